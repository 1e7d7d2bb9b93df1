"""The demo, without a terminal, on a model that says what the small one is to say."""

import re
import shlex
import subprocess
import tempfile
import threading

from world import PATIENCE, Model, World, item

SET = '{"messageTo": "%s", "message": "%s", "contextSetUpdate": {"contextSets": [{"name": "%s", "context": "%s", "visibleToAgents": [%s]}]}}'
FIELD = '{"key": "good", "valueType": "ENUM", "label": "Good", "required": true, "enumValues": ["yes", "no"]}'
TASTES, PLAN = "Raspberry cake, swing and boules.", "Saturday at 6 pm, with cake, music and boules."
DIRECTIVES = [
    '{"messageTo": "ada", "message": "Which cake, which music and which game do you like best?"}',
    SET % ("planner", "Plan the party in four short lines.", "Tastes", TASTES, '"planner", "writer"'),
    SET % ("writer", "Write the invitation in five sentences.", "Plan", PLAN, '"writer"'),
    '{"messageTo": "user", "message": "Good?", "isInfoRequest": true, "form": {"name": "Approval", "fields": [%s]}}' % FIELD,
    '{"messageTo": "user", "message": "The invitation is written.", "workflowComplete": true}',
]
WORKERS = [
    ("You are Ada.", "I love raspberry cake, swing music and the game of boules."),
    ("You make plans", PLAN),
    ("You write warm", "Dear friends, come to the old boathouse on Saturday at 6 pm. The team"),
]


class Team(Model):
    """The models of the team. The planner thinks until it is asked again, so that the process is killed meanwhile."""

    def __init__(self):
        self.again, self.planned, self.directed = threading.Event(), 0, 0
        super().__init__(self.say, usage=(900, 30))

    def say(self, request, nth):
        prompt = str(request["messages"])
        for begins, answer in WORKERS:
            if begins not in prompt:
                continue
            if begins == "You make plans":
                self.planned += 1
                if self.planned == 1:
                    self.again.wait(PATIENCE)
                self.again.set()
            return answer
        self.directed += 1
        return DIRECTIVES[self.directed - 1]

    def handle_error(self, request, client):
        pass  # the process that was killed hears no answer


@item("the demo shows who was shown what after each turn, goes on after `kill -9`, finds a fact again, and its commands can be pasted")
def demo():
    with World() as world, tempfile.TemporaryDirectory() as elsewhere:
        # The demo takes a binary that is newer than its sources from Cargo's folder, and keeps its store there.
        target = world.home / "target"
        (target / "debug").mkdir(parents=True)
        newest = target / "debug/callboard"
        newest.write_text(f'#!/bin/sh\nexec {shlex.quote(str(world.binary))} "$@"\n')
        newest.chmod(0o755)
        model = Team()
        at = {"CARGO_MANIFEST_DIR": World.clone / "xtask", "CARGO_TARGET_DIR": target}
        at |= {"OPENAI_BASE_URL": model.url, "CALLBOARD_MODEL": "openai:scripted"}
        options = {"env": world.env(**at), "text": True, "stdin": subprocess.DEVNULL, "capture_output": True, "timeout": PATIENCE}
        done = subprocess.run([World.xtask, "demo"], cwd=world.home, **options)
        said = done.stdout
        assert done.returncode == 0, said + done.stderr
        assert "\x1b" not in said, "without a terminal there are no colours"
        # After each turn: how full its prompt was, and who was shown which sets so far.
        turns = re.split(r"\n  turn +\d+  ", said)[1:]
        assert len(turns) == len(DIRECTIVES) + len(WORKERS), said
        assert all(re.match(r"\w+ +█.* \d+ of 6000 tokens\n", turn) for turn in turns), said
        assert len(re.findall(r"\n +lead +ada +planner +writer\n", said)) == len(turns) + 1, said
        assert re.search(r"Surprise +– +– +– +–\n", turns[0]) and re.search(r"Surprise +– +– +yes +yes\n", turns[-1]), said
        # One process is killed in the middle of the planner's turn, which is asked once more and answered once.
        assert "kill -9: the process is gone" in said and model.planned == 2 and "it is there once, and nothing is lost" in said, said
        assert "The set Surprise was kept from ada: 1 prompt was sent to it, and it does not have the word" in said, said
        assert "The result:\n\n    Dear friends," in said, said
        # What ada said first is no longer shown, and the first that is found.
        recalled = said.split("$ callboard recall ")[1].split("$ callboard why ")[0]
        assert "raspberry" in recalled and "compressed away at entry" in said.split("$ callboard why ")[1], said
        assert " seconds, " in said and " tokens (" in said and " entries of the journal" in said, said
        # The commands can be pasted, from any folder.
        pasted = [line.strip() for line in said.split("can be pasted anywhere:\n")[1].splitlines() if line.startswith(f"  {target}")]
        assert len(pasted) == 5 and "http://127.0.0.1:7420/" in said, said
        *commands, serve = pasted
        for command in commands:
            ran = subprocess.run(["sh", "-c", command], cwd=elsewhere, env=world.env(), text=True, capture_output=True, timeout=PATIENCE)
            assert ran.returncode == 0 and ran.stdout.strip(), f"{command}: {ran.stderr}"
        world.serve(*shlex.split(serve)[2:])
        assert [run["status"] for run in world.get("/v1/sessions/party/runs")["runs"]] == ["completed"]
