"""Reads events and the reports of three vendors, as adapters/*/Sources/*Report.swift do."""

import datetime

import orjson


class Rejection(Exception):
    """An event that cannot be answered with a token."""

    def __init__(self, code, detail, stage="decode"):
        super().__init__(code, detail, stage)
        self.code, self.detail, self.stage = code, detail, stage


class Event:
    """A report and its envelope."""

    __slots__ = ("app", "report", "id", "observed_ms", "device", "trace")

    def __init__(self, app, report, event_id, observed_ms, device, trace):
        self.app, self.report, self.id = app, report, event_id
        self.observed_ms, self.device, self.trace = observed_ms, device, trace


def decode(message):
    """The event in a record: raw with the header remint-app, else a JSON envelope."""
    value = message.value()
    if not value:
        raise Rejection("malformed_event", "the record has no value")
    try:
        root = orjson.loads(value)
    except orjson.JSONDecodeError:
        raise Rejection("malformed_event", "the value is not usable JSON") from None
    headers = texts(message.headers())
    if "remint-app" in headers:
        app, report = headers["remint-app"], root
        event_id, device = headers.get("remint-id"), headers.get("remint-device")
        observed = headers.get("remint-observed-at")
    else:
        if not isinstance(root, dict) or "report" not in root:
            raise Rejection("malformed_event", "the envelope has no \"report\"")
        app, report = text(root, "app"), root["report"]
        event_id, device, observed = text(root, "id"), text(root, "device"), text(root, "observed_at")
    if not app:
        raise Rejection("unknown_app", "the event names no app")
    event_id = event_id or f"{message.topic()}/{message.partition()}/{message.offset()}"
    observed_ms = message.timestamp()[1] if observed is None else milliseconds(observed)
    trace = [(name, headers[name]) for name in ("traceparent", "tracestate") if name in headers]
    return Event(app, report, event_id, observed_ms, device, trace)


def texts(headers):
    """Headers as text, the last of a name counting; none that is null or not UTF-8."""
    found = {}
    for name, value in headers or ():
        try:
            if value is not None:
                found[name] = value.decode()
        except UnicodeDecodeError:
            pass
    return found


def text(root, name):
    value = root.get(name)
    if value is not None and not isinstance(value, str):
        raise Rejection("malformed_event", f"\"{name}\" is not a string")
    return value


def milliseconds(observed):
    try:
        time = datetime.datetime.fromisoformat(observed)
        if time.tzinfo is None:
            raise ValueError
        return int(time.timestamp() * 1000)
    except (ValueError, OverflowError):
        raise Rejection("malformed_event", "the observed time is not an RFC 3339 date-time") from None


# What reports call for. A reader returns the user to mint for, None where there is nothing to do, or raises Rejection.


def first(report, *names):
    """The first of the members that holds a value, and whether any is there at all."""
    present = False
    for name in names:
        if name in report:
            present = True
            value = report[name]
            if value is not None and value != "":
                return value, True
    return None, present


def user(report, *names):
    value, present = first(report, *names)
    if isinstance(value, str):
        return value
    if value is not None:
        raise Rejection("malformed_report", f"\"{names[0]}\" must be a string, exactly the id the SDK uses")
    if not present:
        raise Rejection("missing_user", f"the report has no \"{names[0]}\"; send it as null for an anonymous user")
    return None


BRAZE_MINTED = {10, 20, 21, 22, 23, 24, 26}


def braze(report):
    code, _ = first(report, "errorCode", "error_code", "code")
    if code is None and "userId" not in report and "user_id" not in report:
        raise Rejection("malformed_report", "the report has no Braze error code; is it another vendor's?")
    try:
        code = None if code is None else int(code)
    except (TypeError, ValueError):
        raise Rejection("malformed_report", "the error code is not a number") from None
    who = user(report, "userId", "user_id")
    if who is not None and code not in BRAZE_MINTED:
        raise Rejection("not_fixable_by_token", f"Braze's code {code}", "resolve")
    return who


ONESIGNAL_MEMBERS = {
    "externalId", "external_id", "appId", "app_id", "device", "time", "rejectedTokenSha256", "rejected_token_sha256",
}


def onesignal(report):
    if "externalId" not in report and "external_id" not in report and not report.keys() <= ONESIGNAL_MEMBERS:
        raise Rejection("malformed_report", "the report has members OneSignal does not send; is it another vendor's?")
    return user(report, "externalId", "external_id")


INFOBIP_MINTED = {
    "JWT_TOKEN_EXPIRED", "JWT_TOKEN_STRUCTURE_INVALID", "ACCESS_TOKEN_MISSING", "JWT_GENERIC_ERROR", "UNAUTHORIZED",
    "FORBIDDEN", "20014", "20013", "401", "403",
}
INFOBIP_MEMBERS = {
    "mm_code", "mm_message", "code", "message", "messageId", "text", "description", "type", "domain", "userInfo",
    "requestError", "tr", "status", "statusCode", "externalUserId", "external_user_id", "applicationCode",
    "pushRegistrationId", "operation", "time", "device",
}


def infobip(report):
    code = infobip_code(report)
    is_known = code in INFOBIP_MINTED or is_of_ios(code, report.get("domain"))
    if not is_known and "externalUserId" not in report and "external_user_id" not in report:
        if code is None or not report.keys() <= INFOBIP_MEMBERS:
            raise Rejection("malformed_report", "the report has no code of Infobip's SDKs; is it another vendor's?")
    who = user(report, "externalUserId", "external_user_id")
    return who if is_known else None


def infobip_code(report):
    """The code as text; SDKs and servers call it by different names, some a level down."""
    server = report.get("requestError")
    nested = [report.get("userInfo"), server.get("serviceException") if isinstance(server, dict) else None]
    places = [(report, ("mm_code", "messageId")), *((place, ("messageId",)) for place in nested),
              (report, ("code",)), (report, ("status", "statusCode"))]
    for place, names in places:
        if isinstance(place, dict):
            code, _ = first(place, *names)
            if code is not None:
                return str(code).upper()
    return None


def is_of_ios(code, domain):
    """iOS's numbers, which mean something in the SDK's own domain alone, and its sign of a server's refusal."""
    if domain == "com.mobile-messaging.backend":
        return code == "0"
    return domain in (None, "com.mobile-messaging") and code in {"10", "11", "12", "13", "14", "15", "16"}


READERS = {"braze": braze, "onesignal": onesignal, "infobip": infobip}


def subject(event, vendor):
    """The user to mint for; None where there is nothing to do."""
    report = event.report
    if not isinstance(report, dict):
        raise Rejection("malformed_report", "the report is not a JSON object")
    if "reissue" in report:
        request = report["reissue"]
        return user(request if isinstance(request, dict) else {}, "user")
    return READERS[vendor](report)
