"""A conversation far larger than the window of its model, with OpenAI's client."""

import random

import openai

from endpoint import ASKED, SMALL, WINDOW, text_of, tokens
from served import call, kept

CODE = "K-4711-QX"
WORDS = "the tide comes and goes with moon wind rain over sand stone water ships boats birds night day north south low high".split()
# So many tokens the conversation has, at least, and each question.
LENGTH, QUESTION = 300_000, 1500


def tried(server: str) -> None:
    client = openai.OpenAI(base_url=f"{server}/gateway/long/helper/openai/v1", api_key="any", max_retries=0)
    chance = random.Random(7)
    messages = []

    def ask(question: str) -> None:
        messages.append({"role": "user", "content": question})
        chunks = client.chat.completions.create(model=SMALL, messages=messages, stream=True)
        answer = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
        messages.append({"role": "assistant", "content": answer})

    def tell() -> int:
        ask(" ".join(chance.choices(WORDS, k=QUESTION)))
        return tokens(messages[-2:])

    begun, said = len(ASKED), tell()
    ask(f"The code of the harbour is {CODE}.")
    while said < LENGTH:
        said += tell()
    ask("What is the code of the harbour?")
    # Where one is larger than the window, the client is refused.
    sent = [tokens(body["messages"]) for body in ASKED[begun:]]
    assert max(sent) > WINDOW // 2, sent
    assert CODE in text_of(ASKED[-1]["messages"]), ASKED[-1]
    kept(server, "chat:helper", len(messages), "long")
    compressed = call(server, "GET", "/journal?types=conversation.compressed", session="long")["entries"]
    # The model was asked for summaries within its window, too.
    assert {entry["data"]["method"] for entry in compressed} == {"model"}, compressed
