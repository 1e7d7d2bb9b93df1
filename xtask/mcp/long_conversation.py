"""A conversation far larger than the window of its model, with OpenAI's client."""

import random

import openai

from endpoint import ASKED, SMALL, WINDOW, text_of, tokens
from served import call, kept

CODE = "K-4711-QX"
WORDS = "the tide comes and goes with moon wind rain over sand stone water ships boats birds night day north south low high".split()
# So many tokens each question has.
QUESTION = 1500


def tried(server: str) -> None:
    known, unknown = SMALL
    compressed = went_on(server, known, 300_000)
    # The model was asked for summaries within its window, too.
    assert {entry["data"]["method"] for entry in compressed} == {"model"}, compressed
    budget = {"id": unknown, "agents": [{"name": "helper", "role": "worker"}], "prompt": {"budget": WINDOW - 1024}}
    call(server, "POST", "", budget, session="")
    assert went_on(server, unknown, 30_000), "the conversation was not compressed"


def went_on(server: str, model: str, length: int):
    """A conversation of so many tokens at least, in a session that is called like the model. The entries of its compressions."""
    client = openai.OpenAI(base_url=f"{server}/gateway/{model}/helper/openai/v1", api_key="any", max_retries=0)
    chance = random.Random(7)
    messages = []

    def ask(question: str) -> None:
        messages.append({"role": "user", "content": question})
        chunks = client.chat.completions.create(model=model, messages=messages, stream=True)
        answer = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
        messages.append({"role": "assistant", "content": answer})

    def tell() -> int:
        ask(" ".join(chance.choices(WORDS, k=QUESTION)))
        return tokens(messages[-2:])

    begun, said = len(ASKED), tell()
    ask(f"The code of the harbour is {CODE}.")
    while said < length:
        said += tell()
    ask("What is the code of the harbour?")
    # Where one is larger than the window, the client is refused.
    sent = [tokens(body["messages"]) for body in ASKED[begun:]]
    assert max(sent) > WINDOW // 2, sent
    assert CODE in text_of(ASKED[-1]["messages"]), ASKED[-1]
    kept(server, "chat:helper", len(messages), model)
    return call(server, "GET", "/journal?types=conversation.compressed", session=model)["entries"]
