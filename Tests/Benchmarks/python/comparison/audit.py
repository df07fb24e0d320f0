"""Looks at what a worker published: one record per event, and signatures that hold."""

import json

import jwt
from confluent_kafka import Consumer, TopicPartition

from .figures import Trouble
from .keys import verification_key

SAMPLE = 200


def audit(stage, algorithm, key, has_tokens=True):
    """Raises `Trouble` unless the tokens topic holds exactly one good token per event, and the dead letters none. Without
    tokens, one record of any contents per event."""
    dead = sum(1 for _ in records(stage, stage.topics["dead_letters"]))
    if dead:
        raise Trouble(f"{dead} events are among the dead letters")
    expected = {f"{stage.app['name']}/{stage.user(number)}".encode() for number in range(stage.events)}
    count, verifier = 0, verification_key(algorithm, key[1])
    for message in records(stage, stage.topics["tokens"]):
        try:
            expected.remove(message.key())
        except KeyError:
            raise Trouble(f"a second token, or one nobody asked for: {message.key()}") from None
        if has_tokens and count % max(1, stage.events // SAMPLE) == 0:
            examine(message, stage.app, algorithm, key[0], verifier)
        count += 1
    if expected:
        raise Trouble(f"{len(expected)} events of {stage.events} have no token")


def records(stage, topic):
    """All records that a reader of committed ones sees now."""
    consumer = Consumer({
        "bootstrap.servers": stage.brokers, "group.id": f"{stage.group}-audit", "isolation.level": "read_committed",
        "enable.auto.commit": False, "auto.offset.reset": "earliest", "enable.partition.eof": True,
    })
    left = stage.partitions(topic)
    consumer.assign([TopicPartition(topic, number, 0) for number in left])
    ends = set()
    while len(ends) < len(left):
        messages = consumer.consume(10_000, 1)
        for message in messages:
            if not message.error():
                yield message
            elif message.error().name() == "_PARTITION_EOF":
                ends.add(message.partition())
            else:
                raise Trouble(message.error().str())
    consumer.close()


def examine(message, app, algorithm, key_id, verifier):
    value = json.loads(message.value())
    try:
        claims = jwt.decode(value["token"], verifier, algorithms=[algorithm], options={"require": ["exp"]})
    except jwt.PyJWTError as error:
        raise Trouble(f"the token of {message.key()}: {error}") from None
    user = value["subject"]["user"]
    named = {"braze": lambda: claims["sub"], "onesignal": lambda: claims["identity"]["external_id"],
             "infobip": lambda: claims["sub"]}[app["vendor"]]()
    headers = {name: value.decode() for name, value in message.headers()}
    facts = [
        (message.key().decode(), f"{app['name']}/{user}"), (named, user), (value["app"], app["name"]),
        (value["vendor"], app["vendor"]), (value["algorithm"], algorithm), (value["key_id"], key_id),
        (value["expires_at"], claims["exp"]), (value["expires_at"] - value["issued_at"], app["lifetime"]),
        (headers["remint-version"], str(value["version"])), (headers["ce_id"], value["event_id"]),
        (headers["ce_type"], "remint.token.replaced.v1"), (headers["remint-key-id"], key_id),
    ]
    for found, wanted in facts:
        if found != wanted:
            raise Trouble(f"the token of {message.key()} has {found} where {wanted} should stand")
