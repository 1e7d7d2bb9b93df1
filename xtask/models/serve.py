"""Serves a model over HTTP until the standard input ends, with llama.cpp's server in the package `xllamacpp`.

    serve.py MODEL.gguf NAME THREADS TEMPLATE.jinja

Prints `listening on URL` once the model is loaded. The system chooses a free port of the loopback interface.
"""

import os
import sys

import xllamacpp


def parameters(model, name, threads, template):
    chosen = xllamacpp.CommonParams()
    chosen.model.path, chosen.model_alias = model, {name}
    chosen.hostnames, chosen.port = ["127.0.0.1"], 0
    chosen.n_ctx, chosen.n_parallel = 16384, 1
    chosen.cpuparams.n_threads = chosen.cpuparams_batch.n_threads = int(threads)
    # The model's own template knows no tools.
    with open(template, encoding="utf-8") as text:
        chosen.use_jinja, chosen.chat_template = True, text.read()
    # A small model needs a low temperature. The seed is another one for each request: an answer that cannot be read, such as a
    # call of a tool that was cut off, is asked for again, and the same seed would give the same answer.
    chosen.sampling.temp = 0.2
    # Warnings and errors only.
    chosen.verbosity = 2
    return chosen


try:
    server = xllamacpp.Server(parameters(*sys.argv[1:]))
except RuntimeError as error:
    sys.exit(str(error))
print("listening on", server.listening_address, flush=True)
while os.read(0, 4096):
    pass
# Requests that are still being answered are cut off.
os._exit(0)
