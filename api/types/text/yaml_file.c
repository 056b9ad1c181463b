/*
 * Reads the documents of a file, for files that are small and needed as a whole.
 */
#include "api/types/text/yaml.h"
#include "base/file.h"

struct yaml_stream *yaml_read_file(const char *path, size_t max_bytes,
                                   const struct yaml_limits *limits, struct error *err)
{
    scoped(buf) struct buf text = {0};
    struct yaml_stream *stream;

    if (!file_read(path, max_bytes, &text, err))
        return NULL;
    stream = yaml_parse(text.data ? text.data : "", text.len, limits, err);
    if (!stream)
        error_prefix(err, "%s: ", path);
    return stream;
}
