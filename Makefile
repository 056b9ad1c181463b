# Thin names for the presets and scripts. `make` builds; `make help` lists the rest.
.PHONY: build test check demo format install package help

build:
	@scripts/build.sh

test: build
	@scripts/test.sh

check:
	@scripts/check.sh

demo:
	@scripts/demo.sh

format: build/dev/build.ninja
	cmake --build --preset dev --target format

install:
	@scripts/build.sh release
	cmake --install build/release

package:
	@scripts/build.sh release
	cd build/release && cpack -G DEB

help:
	@echo "make          build the program for development (build/dev/jobflow)"
	@echo "make test     build it and run the quick tests: three minutes on two cores"
	@echo "make check    everything that must hold before a change lands: 20 to 45 minutes on two cores"
	@echo "make demo     build the program (build/release/jobflow) and run examples/ml-pipeline"
	@echo "make format   format the sources"
	@echo "make install  build for release and install below /usr/local"
	@echo "make package  build for release and make a Debian package in build/release"

build/dev/build.ninja:
	cmake --preset dev
