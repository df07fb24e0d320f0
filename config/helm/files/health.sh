# Asks the health and the readiness of every pod of a service, and fails if a pod is not alive and ready, or if there is none.
#
# Needs getent, openssl, cat, cut, sort and timeout, and nothing else: the image of a release has no more.
#
# Usage: bash health.sh SERVICE PORT http|https …, three arguments for each service
set -u

# ask ADDRESS PORT SCHEME PATH: prints the answer, with its status line.
ask() {
    local host=$1 request
    case $1 in *:*) host="[$1]" ;; esac
    request="GET $4 HTTP/1.1\r\nHost: $host:$2\r\nConnection: close\r\n\r\n"
    if [ "$3" = https ]; then
        # The pod's address is in no certificate, so it is not verified: no secret is sent.
        printf '%b' "$request" | timeout 10 openssl s_client -quiet -connect "$host:$2" 2>/dev/null
    else
        timeout 10 bash -c 'exec 3<>"/dev/tcp/$0/$1" && printf "%b" "$2" >&3 && cat <&3' "$1" "$2" "$request" 2>/dev/null
    fi
}

failures=0
while [ $# -ge 3 ]; do
    service=$1 port=$2 scheme=$3
    shift 3
    addresses=$(getent ahosts "$service" | cut -d ' ' -f 1 | sort -u)
    if [ -z "$addresses" ]; then
        echo "$service: no pod has an address; list the pods: kubectl get pods --selector app.kubernetes.io/name=remint"
        failures=$((failures + 1))
    fi
    for address in $addresses; do
        for path in /health/live /health/ready; do
            answer=$(ask "$address" "$port" "$scheme" "$path")
            case $answer in
            "HTTP/1.1 200"*) echo "$service $address $path: ok" ;;
            "") echo "$service $address $path: no answer within 10 s" && failures=$((failures + 1)) ;;
            *)
                # The status line and the body, which is the last line.
                answer=${answer//$'\r'/}
                echo "$service $address $path: ${answer%%$'\n'*} ${answer##*$'\n'}"
                failures=$((failures + 1))
                ;;
            esac
        done
    done
done
[ "$failures" -eq 0 ]
