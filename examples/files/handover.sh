#!/bin/sh
# A planner hands a feature over to a coder, who hands back what it did: two processes, one folder, no server.
#
#   sh examples/files/handover.sh
#
# Needs nothing but callboard in the PATH. Coding agents do the same, each in its own words and when it likes, once
# `callboard files instructions` stands among their rules.
set -eu

command -v callboard >/dev/null || { echo 'callboard is not in the PATH' >&2 && exit 1; }
project=$(mktemp -d)
trap 'rm -rf "$project"' EXIT
cd "$project"
session=$(callboard files new --json | sed 's/.*"session_id":"\([^"]*\)".*/\1/')

planner() {
    callboard files add --session "$session" --category features --name user-auth --for @coder --keywords user-auth,login \
        --request 'People log in with a name and a password.' --constraints 'No new dependencies.'
    printf '1. The form.\n2. The check.\n' | callboard files add --session "$session" --category tasks --name user-auth \
        --for @coder --keywords user-auth --request -
    callboard files delegate --session "$session" --to @coder --task 'Build the login.' --keywords user-auth >message.new
    # The message comes as a whole or not at all, as a chat would have it.
    mv message.new message
}

coder() {
    until [ -e message ]; do
        kill -0 "$planner" # It is still there to write one.
        sleep 0.1
    done
    cat message
    sed -n 's/^- //p' message | while read -r path; do
        echo "the coder reads $path"
        sed -n '/^## Request Summary/,/^$/p' "$path"
    done
    callboard files add --session "$session" --category code --name login-form --for @planner --keywords user-auth,form \
        --request 'The form and the check are in src/login.rs.' --expected 'A look at the error texts.'
}

planner &
planner=$!
coder
wait "$planner"

echo 'the planner finds'
callboard files search --session "$session" --for @planner --keywords form --json
callboard files end --session "$session"
