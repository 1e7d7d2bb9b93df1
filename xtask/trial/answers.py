"""What models answer, in a loop of one's own: taken as it is given, and sent on as its provider takes it."""

import json
import random

from world import World, board, item, refused

USAGE = {"prompt_tokens": 90, "completion_tokens": 4, "total_tokens": 94, "prompt_tokens_details": {"cached_tokens": 0}}


def begin(world, session, agent="writer", **more):
    wanted = {"agent": agent, "thread": "main", "format": "openai", "record": True, **more}
    return f"{session}/turns/{world.post(f'{session}/prompt', wanted)['turn']}"


@item("usage and answers are taken as the SDKs of OpenAI and Anthropic give them, with null for what is absent")
def as_given():
    with board() as (world, session):
        world.say(session, "Write on tides.")
        message = {"role": "assistant", "content": "Tides turn.", "refusal": None, "annotations": [], "function_call": None, "tool_calls": None}
        choice = {"index": 0, "finish_reason": "stop", "logprobs": None, "message": message}
        openai = {"id": "c", "object": "chat.completion", "model": "gpt-4o", "choices": [choice], "usage": USAGE}
        blocks = [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "They do."}]
        used = {"input_tokens": 10, "output_tokens": 4, "cache_read_input_tokens": 80, "cache_creation_input_tokens": None}
        anthropic = {"id": "m", "type": "message", "role": "assistant", "model": "claude", "stop_reason": "end_turn", "content": blocks, "usage": used}
        for answer in ({"message": openai}, {"message": anthropic}, {"text": "Twice a day.", "tool_calls": None, "usage": USAGE}, {"text": ""}):
            world.post(begin(world, session), answer)
        turns = world.get(f"{session}/turns")["turns"]
        assert [it.get("usage", {}).get("prompt_tokens") for it in turns] == [None, 90, 90, 90], turns
        said = [it["content"] for it in world.get(f"{session}/threads/main/messages")["messages"]]
        assert "Tides turn." in said and said[-1] == "", said
        assert world.get(session)["usage"]["prompt_tokens"] == 270 and "270" in world.ok("session", "show", "s", "--url", world.url)


@item("a message that says nothing is refused, half a character is replaced, and calls with one id get two")
def odd():
    with board() as (world, session):
        path = f"{session}/threads/main/messages"
        for nothing in ({"role": "user"}, {"role": "assistant", "tool_calls": []}):
            problem = refused(422, lambda: world.post(path, {"messages": [nothing]}), "invalid")
            assert problem["pointer"] == "/messages/0/content", problem
        assert world.post(path, {"messages": [{"role": "user", "content": "half \ud83d"}]})["repaired"] == [0]
        call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        world.post(begin(world, session), {"message": {"role": "assistant", "content": None, "tool_calls": [call, call]}})
        kept = world.get(path)["messages"][-1]["tool_calls"]
        assert [it["id"] for it in kept] == ["c1", "c1-2"], kept


@item("models whose templates want turns in order get them: Gemma, Qwen, Mistral, and all that nobody knows")
def in_turn():
    with board() as (world, session):
        for nth, by in enumerate(["user", "lead", "critic", "writer", "user", "lead"]):
            message = {"role": "user" if by == "user" else "assistant", "content": f"Remark {nth}."}
            world.post(f"{session}/threads/main/messages?as={by}" if by != "user" else f"{session}/threads/main/messages", {"messages": [message]})
        world.post(f"{session}/threads/main/messages", {"messages": [{"role": "system", "content": "Be brief."}]})
        for model in ("openai:gemma-3-27b-it", "openai:mistral-large", "openai:qwen2.5", "openai:nobody-knows"):
            messages = world.post(f"{session}/prompt", {"agent": "writer", "thread": "main", "format": "openai", "model": model})["messages"]
            roles = [it["role"] for it in messages]
            assert roles[:2] == ["system", "user"] and roles[-1] == "user" and "system" not in roles[1:], (model, roles)
            assert all(one != other for one, other in zip(roles, roles[1:])), (model, roles)
            assert "[from system] Be brief." in messages[-1]["content"], messages[-1]


@item("pictures reach models in all formats, and the page on prompts says which")
def pictures():
    picture = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    with board() as (world, session):
        parts = [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": picture}}]
        world.post(f"{session}/threads/main/messages", {"messages": [{"role": "user", "content": parts}]})
        forms = (("openai", "openai:gpt-4o", "image_url"), ("responses", "openai:gpt-4o", "input_image"), ("anthropic", "anthropic:claude-sonnet-4-5", "image"))
        for form, model, kind in forms:
            prompt = world.post(f"{session}/prompt", {"agent": "writer", "thread": "main", "format": form, "model": model})
            assert f'"type": "{kind}"' in json.dumps(prompt.get("messages") or prompt["input"]), (form, prompt)
    assert "picture" in (World.clone / "docs/prompts.md").read_text().lower()


@item("tools that fail are answers for the model, names of own tools do for agents, and what is offered can be used")
def own_tools():
    with World() as world:
        world.serve()
        world.post("/v1/sessions", {"id": "s", "agents": [{"name": "w", "role": "worker"}, {"name": "r", "role": "worker", "tools": ["callboard:read"]}]})
        world.say("/v1/sessions/s", "Hello.")
        names = lambda answer: {it["function"]["name"] for it in answer.get("tools", [])}
        prompt = lambda agent, *tools: names(world.post("/v1/sessions/s/prompt", {"agent": agent, "format": "openai", "tools": tools}))
        assert {"read_messages", "recall"} <= prompt("r") and not prompt("w")
        offered, listed = prompt("w", "callboard:read"), names(world.get("/v1/sessions/s/tools?agent=w&format=openai"))
        assert offered and offered <= listed and "read_file" not in offered, (offered, listed)
        failed = world.post("/v1/sessions/s/tools/read_context_set", {"agent": "w", "arguments": {"name": "Nope"}})
        assert failed["is_error"] and "Nope" in failed["result"], failed
        read = json.loads(world.post("/v1/sessions/s/tools/read_messages", {"agent": "w", "arguments": {}})["result"])
        assert "Hello." in world.post("/v1/sessions/s/tools/read_message", {"agent": "w", "arguments": {"message_id": read[0]["id"]}})["result"]


@item("a set that is larger than a prompt is read in parts, as the note in the prompt says")
def large_set():
    with board() as (world, session):
        text = " ".join(f"fact{nth}" for nth in range(9000))
        world.send("PUT", f"{session}/context-sets/Facts", {"content": text, "visible_to": "all"})
        world.say(session, "Go on.")
        prompt = world.post(f"{session}/prompt", {"agent": "writer", "budget": 3000, "tools": ["callboard:read"]})
        assert "read_context_set" in prompt["text"], prompt["text"]
        read, offset = "", 0
        while len(read) < len(text):
            call = {"agent": "writer", "arguments": {"name": "Facts", "offset": offset, "limit": 20_000}}
            part = world.post(f"{session}/tools/read_context_set", call)["result"].split("\n[")[0]
            assert part, (offset, len(text))
            read, offset = read + part, offset + len(part)
        assert read == text


@item("recall puts a question that only repeats itself last, and folds accents")
def question():
    with board() as (world, session):
        for text in ("My boat is called Merlin.", "Thanks!", "It lies in the café at the pier.", "What is my boat called?"):
            world.say(session, text)
        hits = lambda query: [it["text"] for it in world.post(f"{session}/recall", {"query": query})["hits"]]
        found = hits("What is my boat called?")
        assert found[0] == "My boat is called Merlin." and found[-1] == "What is my boat called?", found
        assert hits("cafe")[0].startswith("It lies"), hits("cafe")
        for _ in range(3):
            world.say(session, "What is the name of the boat?")
            world.say(session, "It is in your notes.")
        assert "My boat is called Merlin." in hits("What is the name of the boat?")[:2], hits("What is the name of the boat?")


@item("after a compression `context` says that there is nothing to compress, and a preview gives the sizes of the deed")
def sizes():
    with World() as world:
        world.ok("session", "new", "--id", "one", "--agent", "writer")
        for nth in range(40):
            world.ok("say", f"Day {nth}: high water stood {nth * 7 % 50} centimetres over the forecast at the old pier of Hull. " * 3)
        words = ("compress", "main", "--target", "600", "--no-model", "--json")
        before = json.loads(world.ok(*words, "--preview"))
        done = json.loads(world.ok(*words))
        assert (before["tokens_before"], before["tokens_after"]) == (done["tokens_before"], done["tokens_after"]), (before, done)
        told = world.run("context")
        assert "nothing to compress" in told.out + told.err and "BUDGET" in told.out, told.out


@item("in a small window a compression keeps much of it, and the newest messages word for word")
def small_window():
    with World() as world:
        world.serve()
        session, chance = world.team(prompt={"budget": 7000}), random.Random(1)
        for nth in range(70):
            facts = " ".join(chance.choice("bdfgklmnprst") + chance.choice("aeiou") + chance.choice("lmnrst") for _ in range(60))
            world.say(session, f"Day {nth}: {facts}.")
        done = world.post(f"{session}/threads/main/compress", {})
        assert done["tokens_after"] > 2500, done
        text = world.post(f"{session}/prompt", {"agent": "writer", "thread": "main"})["text"]
        assert sum(f"Day {nth}:" in text for nth in range(60, 70)) == 10, text
