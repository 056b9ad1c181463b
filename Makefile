# Thin names for the presets and scripts.
.PHONY: demo check build test format

demo:
	@scripts/demo.sh

check:
	@scripts/check.sh

build:
	cmake --preset dev
	cmake --build --preset dev

test: build
	ctest --preset dev -j $$(nproc)

format: build/dev/build.ninja
	cmake --build --preset dev --target format

build/dev/build.ninja:
	cmake --preset dev
