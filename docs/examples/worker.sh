#!/bin/sh
# A worker in plain shell, with curl: DETENT_URL=… DETENT_TOKEN=… sh worker.sh QUEUE
set -u

# What is done for a job: $1 is its kind, stdin its payload and stdout its result, both JSON. Success is 0.
kinds='["count","nap"]'
handle() {
    case $1 in
        count) printf '{"bytes":%d}' "$(wc -c)" ;;
        nap)
            seconds=$(tr -cd 0-9.)
            sleep "$seconds" &
            trap 'kill $!' TERM # told to stop, it leaves nothing behind that runs
            wait $! && printf '{"rested":true}'
            ;;
    esac
}

work=$(mktemp -d)
stopping=
trap 'rm -rf "$work"' EXIT
trap 'stopping=yes; trap - TERM INT' TERM INT # a second signal ends it at once
printf '%s\n' "authorization: Bearer $DETENT_TOKEN" 'content-type: application/json' >"$work/headers"

# ask NAME PATH BODY: until there is an answer; it is then in the file NAME. A repeat has the same key, so what was done
# already is not done again. It fails if what was asked is refused, and gives a claim up when the worker is to stop.
ask() {
    printf %s "$3" >"$work/$1.body"
    key=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
    while [ -z "$stopping" ] || [ "$1" != claim ]; do
        status=$(curl -s -o "$work/$1" -w '%{http_code}' -H "@$work/headers" -H "idempotency-key: $key" \
            --data-binary "@$work/$1.body" "$DETENT_URL$2")
        case $status in
            2*) return 0 ;;
            000 | 408 | 429 | 5*) sleep 1 ;; # nobody there, too much at once, or not now
            *) break ;;
        esac
    done
    return 1
}

# Whatever a payload holds, quotes within its strings are escaped: a name between plain quotes is a name. The fields of
# a job have their order: id, kind and attempt, then the payload, the result (null as yet), and the policy near the end.
read_job() {
    job=$(cat "$work/claim") head=${job%%',"payload":'*}
    id=${head#*'"id":"'} id=${id%%'"'*}
    kind=${head#*'"kind":"'} kind=${kind%%'"'*}
    attempt=${head#*'"attempt":'} attempt=${attempt%%,*}
    payload=${job#*',"payload":'} payload=${payload%',"result":null,"result_ptr":'*}
    heartbeat_s=${job##*'"heartbeat_s":'} heartbeat_s=${heartbeat_s%%[,\}]*}
}

# Beside the handler, until the worker is done with the job, or is gone itself. $1 is the handler, which is ended when
# the job is to be cancelled, or is another's by now.
renew() {
    while sleep "$heartbeat_s" && kill -0 $$; do
        ask renewed "/v1/jobs/$id/renew" "{$mine}" && grep -q '"cancel_by":null' "$work/renewed" && continue
        : >"$work/over"
        kill "$1"
        return
    done
}

run() {
    rm -f "$work/over"
    mine="\"attempt\":$attempt"
    printf %s "$payload" | handle "$kind" >"$work/result" &
    handler=$!
    renew $handler >/dev/null 2>&1 &
    renewing=$!
    wait $handler
    code=$?
    while kill -0 $handler 2>/dev/null; do # a signal has ended the waiting, and not the handler
        wait $handler
        code=$?
    done
    kill $renewing 2>/dev/null
    if [ -e "$work/over" ]; then
        ask end "/v1/jobs/$id/cancel" "{$mine}"
    elif [ $code -eq 0 ]; then
        ask end "/v1/jobs/$id/complete" "{$mine,\"result\":$(cat "$work/result")}"
    else
        error="{\"type\":\"ExitCode\",\"message\":\"the handler ended with $code\"}"
        ask end "/v1/jobs/$id/fail" "{$mine,\"error\":$error}"
    fi
}

while [ -z "$stopping" ]; do
    if ask claim /v1/claims "{\"queues\":[\"$1\"],\"kinds\":$kinds,\"start\":true,\"wait_s\":5}"; then
        grep -q '"jobs":\[\]' "$work/claim" || { read_job && run; }
    elif [ -z "$stopping" ]; then
        cat "$work/claim" >&2
        exit 1
    fi
done
