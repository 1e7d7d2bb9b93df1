#!/bin/sh
# A writer and a critic share a board, over HTTP alone.
#
#   callboard serve &
#   sh examples/curl/team.sh
#
# CALLBOARD_URL says where the board is. Needs nothing but curl.
set -eu

board=${CALLBOARD_URL:-http://127.0.0.1:7420}/v1/sessions
session=tides-$$

# Sends a body; what is refused is printed, with what to do about it, and ends this.
send() {
    curl --silent --show-error --fail-with-body -X "$1" "$board$2" -H 'Content-Type: application/json' ${3:+-d "$3"} ||
        { echo && return 1; }
    echo
}

send POST '' "{\"id\": \"$session\", \"agents\": [
    {\"name\": \"lead\", \"role\": \"manager\"},
    {\"name\": \"writer\", \"role\": \"worker\", \"instructions\": \"You write one sentence at a time.\"},
    {\"name\": \"critic\", \"role\": \"worker\"}]}"

# What is shared, and with whom. The critic is not told what the writer was asked for.
send PUT "/$session/context-sets/Brief" '{"content": "For sailors.", "visible_to": ["lead", "writer"]}'
send PUT "/$session/context-sets/Facts" '{"content": "High water comes about 50 minutes later each day."}'

# Twice the same request under the same key is done once.
for _ in 1 2; do
    curl --silent --fail-with-body "$board/$session/threads/main/messages" -H 'Content-Type: application/json' \
        -H 'Idempotency-Key: question-1' -d '{"messages": [{"role": "user", "content": "When is high water?"}]}'
    echo
done

# What each of them is shown, as a text, as the messages of OpenAI's API, and as those of Anthropic's.
send POST "/$session/prompt" '{"agent": "writer", "thread": "main", "budget": 2000}'
send POST "/$session/prompt" '{"agent": "critic", "thread": "main", "format": "openai"}'
send POST "/$session/prompt" '{"agent": "critic", "thread": "main", "format": "anthropic"}'

# An answer, said as the agent that gave it.
send POST "/$session/threads/main/messages?as=writer" \
    '{"messages": [{"role": "assistant", "content": "About 50 minutes later than yesterday."}]}'

# All that happened since entry 4, as a stream; it stays open, so only its first five seconds are shown.
curl --silent --no-buffer --max-time 5 "$board/$session/events?after=4" || test $? -eq 28

# What is hidden answers like what is not there.
send GET "/$session/context-sets/Brief?as=critic" || echo 'as it should be'
