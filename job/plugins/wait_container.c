/*
 * The script of the waiting container. It needs a shell and one of: nc with -z, a shell with
 * /dev/tcp, bash, python3. It tries all of them, because dash has no /dev/tcp and many images have
 * no nc.
 */
#include "job/plugins/wait_container.h"

static const char script[] =
    "port=%lld limit=%lld waited=0\n"
    "reach() {\n"
    "  nc -z \"$1\" $port || (: > \"/dev/tcp/$1/$port\") ||\n"
    "    bash -c ': > \"/dev/tcp/$0/$1\"' \"$1\" $port ||\n"
    "    python3 -c 'import socket, sys; socket.create_connection(sys.argv[1:], 2)' \"$1\" $port\n"
    "}\n"
    "for host in %s; do\n"
    "  echo \"waiting for $host:$port\"\n"
    "  until reach \"$host\" >/dev/null 2>&1; do\n"
    "    if [ $waited -ge $limit ]; then\n"
    "      echo \"$host:$port does not answer, waited $waited of $limit s\"\n"
    "      exit 1\n"
    "    fi\n"
    "    sleep 2\n"
    "    waited=$((waited + 2))\n"
    "  done\n"
    "  echo \"$host:$port answers\"\n"
    "done\n";

json_t *job_wait_container(const struct job_wait_container *what)
{
    scoped(buf) struct buf text = {0};

    buf_printf(&text, script, (long long)what->port, (long long)what->timeout_s, what->hosts);
    return json_pack("{s:s, s:s, s:[s, s, s]}", "name", what->name, "image", what->image, "command",
                     "sh", "-c", text.data);
}
