"""A loop of one's own gets as much as Callboard's own runs."""

from world import Model, World, board, item, refused


def ask(world, session, agent="writer", **more):
    return world.post(f"{session}/prompt", {"agent": agent, "format": "openai", "record": True, **more})


@item("a recorded prompt is a turn, answered once, by its agent or the user")
def turns():
    with board() as (world, session):
        world.say(session, "Write on tides.")
        turn = ask(world, session)["turn"]
        answer = {"text": "Tides turn.", "usage": {"prompt_tokens": 90, "completion_tokens": 4}}
        first = world.post(f"{session}/turns/{turn}", answer)
        assert first == world.post(f"{session}/turns/{turn}", answer), "the same answer gives the same result"
        refused(409, lambda: world.post(f"{session}/turns/{turn}", {"text": "They do not."}))
        other = ask(world, session)["turn"]
        refused(404, lambda: world.post(f"{session}/turns/{other}?as=critic", {"text": "No."}))  # it sees no turns but its own
        world.post(f"{session}/turns/{other}?as=writer", {"text": "Yes."})
        listed = world.get(f"{session}/turns")["turns"]
        assert [it["answered"] for it in listed] == [True, True] and listed[-1]["usage"]["prompt_tokens"] == 90
        assert world.ok("turns", "--session", "s", "--url", world.url).count("writer") >= 2


@item("any prompt that was sent can be rendered again, and `why` says who was shown what")
def sent():
    with board() as (world, session):
        world.say(session, "The word is lagoon.")
        asked = ask(world, session)
        world.post(f"{session}/turns/{asked['turn']}", {"text": "I know."})
        world.say(session, "And more.")
        again = world.get(f"{session}/turns/{asked['turn']}/prompt")
        assert again["messages"] == asked["messages"] and again["as_sent"]
        found = world.get(f"{session}/why?text=lagoon")["findings"][0]
        assert [it["agent"] for it in found["shown"]] == ["writer"], found


@item("a long conversation is compressed before the turn that would not fit")
def room():
    with World() as world:
        world.serve()
        session = world.team(compression={"compress_tokens": 2000, "target_tokens": 500})
        for nth in range(60):
            world.say(session, f"Day {nth}: high water stood {nth * 7 % 50} centimetres over the forecast at the old pier of Hull. " * 2)
        assert ask(world, session)["tokens"] < 2000
        kinds = [entry["type"] for entry in world.get(f"{session}/journal?after=60")["entries"]]
        assert "conversation.compressed" in kinds, kinds


@item("what a prompt tells a model to fetch it can fetch: tools in both forms, within the agent's rights")
def tools():
    with board() as (world, session):
        world.send("PUT", f"{session}/context-sets/Vault", {"content": "bergamot", "visible_to": ["lead"]})
        said = world.say(session, "High water at noon.")
        openai = world.get(f"{session}/tools?agent=writer&format=openai")["tools"]
        names = {tool["function"]["name"] for tool in openai}
        assert {"read_messages", "read_context_set", "search", "recall"} <= names, names
        anthropic = world.get(f"{session}/tools?agent=writer&format=anthropic")["tools"]
        assert all("input_schema" in tool for tool in anthropic)
        call = lambda name, arguments: world.post(f"{session}/tools/{name}", {"agent": "writer", "arguments": arguments})["result"]
        assert "High water" in call("read_messages", {"message_id": said["message_id"]})
        assert "High water" in call("search", {"q": "water"})
        failed = lambda name, arguments: world.post(f"{session}/tools/{name}", {"agent": "writer", "arguments": arguments})
        answer = failed("read_context_set", {"name": "Vault"})
        assert answer["is_error"] and "Vault" in answer["result"], answer
        assert "write_context_set" not in names
        answer = failed("write_context_set", {"name": "New", "content": "x"})
        assert answer["is_error"] and "may not" in answer["result"], answer


@item("`tools = [\"callboard:read\"]` names all tools that read")
def bundle():
    with World() as world:
        world.serve()
        agents = [{"name": "solo", "role": "worker", "tools": [{"name": "callboard:read"}]}]
        world.post("/v1/sessions", {"id": "s", "agents": agents})
        world.say("/v1/sessions/s", "Hello.")
        offered = {tool["function"]["name"] for tool in ask(world, "/v1/sessions/s", "solo")["tools"]}
        assert {"read_messages", "search"} <= offered, offered


@item("a change of settings is merged, sessions are listed by their last use, and forms have a list")
def settings():
    with World() as world:
        world.serve()
        session = world.team(prompt={"budget": 5000})
        world.team("other")
        world.send("PATCH", session, {"prompt": {"layout": "plain"}})
        assert world.get(session)["prompt"] == {"budget": 5000, "layout": "plain"}, world.get(session)
        ids = lambda order: [it["id"] for it in world.get(f"/v1/sessions{order}")["sessions"]]
        assert ids("") == ["s", "other"] and ids("?order=id") == ["other", "s"], ids("")
        assert world.get(f"{session}/forms")["forms"] == []


@item("long results of tools are read in parts, page by page")
def in_parts():
    with board() as (world, session):
        for nth in range(5):
            last = world.say(session, f"Day {nth}.")["message_id"]
        call = lambda **arguments: world.post(f"{session}/tools/read_messages", {"agent": "writer", "arguments": arguments})["result"]
        page = call(limit=2, before=last)
        assert "Day 3." in page and "Day 4." not in page and "Day 1." not in page, page


@item("one message can be read, and words can be searched in messages and sets")
def search():
    with board() as (world, session):
        said = world.say(session, "The lagoon is calm.")
        world.send("PUT", f"{session}/context-sets/Facts", {"content": "The lagoon is salt.", "visible_to": ["lead"]})
        assert world.get(f"{session}/threads/main/messages/{said['message_id']}")["content"] == "The lagoon is calm."
        assert len(world.get(f"{session}/search?q=lagoon")["hits"]) == 2
        assert len(world.get(f"{session}/search?q=lagoon&as=writer")["hits"]) == 1


@item("the three small agents: a team of three, a follower, a conversation without an end")
def agents():
    def lead(request, nth):
        if "response_format" not in request:
            return "Salt water rises." if nth < 3 else "It is too short."
        steps = ['{"messageTo": "writer", "message": "Write.", "contextSetUpdate": {"contextSets": [{"name": "Brief", "context": "short", "visibleToAgents": ["writer"]}]}}',
                 '{"messageTo": "critic", "message": "Judge."}', '{"messageTo": "user", "message": "Done.", "workflowComplete": true}']
        return steps[nth // 2]

    with World() as world:
        world.serve()
        model = Model(lead)
        said = world.program("examples/agents/team.py", "Tides", OPENAI_BASE_URL=model.url)
        assert said.splitlines() == ["lead to writer: Write.", "writer: Salt water rises.", "lead to critic: Judge.",
                                     "critic: It is too short.", "lead to user: Done."], said
        assert "short" in str(model.asked[1]) and '"Brief"' not in str(model.asked[3]), "the brief is the writer's"
        for path in sorted((World.clone / "examples/agents").glob("*.py")):
            assert len(path.read_text().splitlines()) <= 60, path
