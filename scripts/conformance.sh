#!/usr/bin/env bash
# Prints how many cases of each specification have a test: scripts/conformance.sh [-v]
#
# The case ids are in tests/conformance/ids/<specification>.txt, one per line. A comment near a test names its cases:
#   /* covers: jobflow.md 42 43 47..50; job.md ADM-01 ADM-02 */       in C; may span several lines
#   # covers: jobflow.md 51                                           in scripts and YAML
# a..b are the ids from a to b in the order of the list. "see …" is free text up to the next semicolon.
# -v also prints the ids without a test. An unknown id is an error.
set -euo pipefail
cd "$(dirname "$0")/.."

verbose=0
case ${1:-} in
    "") ;;
    -v) verbose=1 ;;
    *) echo "usage: scripts/conformance.sh [-v]" >&2; exit 2 ;;
esac

tests=()
while IFS= read -r -d '' file; do tests+=("$file"); done < <(
    find tests -type f \( -name '*.c' -o -name '*.h' -o -name '*.sh' -o -name '*.py' -o -name '*.yaml' -o -name '*.yml' \) \
        -print0 | sort -z)

exec awk -v verbose=$verbose '
    function fail(text) {
        print file ":" line ": " text > "/dev/stderr"
        wrong = 1
    }

    # One token of a covers comment: a specification, an id, or a range of ids.
    function token(word,    ends, i) {
        sub(/[,;]+$/, "", word)
        if (word == "")
            return
        if (word ~ /\.md$/) {
            spec = substr(word, 1, length(word) - 3)
            if (!(spec in count)) {
                fail("no list of ids for " word)
                spec = ""
            }
        } else if (spec == "") {
            fail("\"" word "\" follows no specification")
        } else if (split(word, ends, /\.\./) == 2) {
            if (!((spec, ends[1]) in place) || !((spec, ends[2]) in place))
                fail(spec ".md has no case " word)
            else
                for (i = place[spec, ends[1]]; i <= place[spec, ends[2]]; i++)
                    covered[spec, id[spec, i]] = 1
        } else if (!((spec, word) in place)) {
            fail(spec ".md has no case " word)
        } else {
            covered[spec, word] = 1
        }
    }

    function tokens(text,    words, n, i) {
        gsub(/;/, " ; ", text)
        n = split(text, words, /[ \t]+/)
        for (i = 1; i <= n; i++) {
            if (words[i] == ";")
                free = 0
            else if (words[i] == "see")
                free = 1
            else if (!free)
                token(words[i])
        }
    }

    FNR == 1 { file = FILENAME; open_comment = 0 }
    { line = FNR }

    FILENAME ~ /^tests\/conformance\/ids\// {
        if (FNR == 1) {
            spec = FILENAME
            gsub(/^.*\/|\.txt$/, "", spec)
            specs[++spec_count] = spec
            count[spec] = 0
        }
        if ($1 != "") {
            id[spec, ++count[spec]] = $1
            place[spec, $1] = count[spec]
        }
        next
    }

    open_comment || /(\/\*|#|^[ \t]*\*) (.*[ .;])?covers:/ {
        text = $0
        if (!open_comment) {
            free = 0
            spec = ""
            open_comment = text ~ /\/\*.*covers:/ || text ~ /^[ \t]*\*.*covers:/
            sub(/^.*covers:/, "", text)
        } else if (text !~ /^[ \t]*\*\//) {
            sub(/^[ \t]*\*/, "", text)
        }
        if (text ~ /\*\//) {
            sub(/\*\/.*/, "", text)
            tokens(text)
            open_comment = 0
        } else {
            tokens(text)
        }
    }

    END {
        for (s = 1; s <= spec_count; s++) {
            spec = specs[s]
            done = 0
            open = ""
            for (i = 1; i <= count[spec]; i++) {
                if ((spec, id[spec, i]) in covered)
                    done++
                else
                    open = open " " id[spec, i]
            }
            print spec ".md: " done " covered, " count[spec] - done " open of " count[spec]
            if (verbose && open != "")
                print "  open:" open
        }
        exit wrong
    }
' tests/conformance/ids/*.txt "${tests[@]}"
