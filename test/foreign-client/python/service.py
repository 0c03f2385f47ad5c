"""A client of the virtual try-on interface, written from its document alone with Python's standard library."""

import json
import os
import time
import urllib.error
import urllib.request
import uuid

BASE_URL = os.environ["BASE_URL"]
PROXY_BASE = os.environ["PROXY_BASE"]
API_KEY = os.environ["API_KEY"]


class Response:
    def __init__(self, status, headers, content):
        self.status = status
        self.headers = headers
        self.content = content

    @property
    def body(self):
        return json.loads(self.content) if self.content else None


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


OPENER = urllib.request.build_opener(NoRedirect)


def send(method, url, *, headers=None, data=None):
    request = urllib.request.Request(url, data=data, headers=headers or {}, method=method)
    try:
        with OPENER.open(request, timeout=120) as response:
            return Response(response.status, response.headers, response.read())
    except urllib.error.HTTPError as error:
        return Response(error.code, error.headers, error.read())


def encode_form(fields, files):
    """Returns the content type and the bytes of a multipart form."""
    boundary = uuid.uuid4().hex
    parts = []
    for name, value in fields.items():
        parts.append(f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode())
    for name, content in files.items():
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"; filename="{name}.jpg"\r\n'
        parts.append(head.encode() + b"Content-Type: image/jpeg\r\n\r\n" + content + b"\r\n")
    parts.append(f"--{boundary}--\r\n".encode())
    return f"multipart/form-data; boundary={boundary}", b"".join(parts)


def call(method, path, body=None, *, key=API_KEY, files=None, fields=None, headers=None):
    """A call of the server API: JSON, or a form with the JSON in its field data."""
    sent = {} if key is None else {"x-api-key": key}
    data = None
    if files is not None or fields is not None:
        form = dict(fields or {})
        if body is not None:
            form["data"] = json.dumps(body)
        sent["Content-Type"], data = encode_form(form, files or {})
    elif body is not None:
        sent["Content-Type"] = "application/json"
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return send(method, f"{BASE_URL}/tryon/v1{path}", headers={**sent, **(headers or {})}, data=data)


def storefront(method, path, body=None, headers=None):
    """A call through the proxy of the shop."""
    data = None if body is None else json.dumps(body).encode()
    content = {} if body is None else {"Content-Type": "application/json"}
    return send(method, f"{PROXY_BASE}/public{path}", headers={**content, **(headers or {})}, data=data)


def upload(photo, **fields):
    return call("POST", "/images/upload", files={"file": photo}, fields=fields)


def poll(generation_id, key=API_KEY):
    """Polls until the generation has ended; the recommended interval is for callers with a rate limit."""
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline:
        response = call("GET", f"/generations/{generation_id}", key=key)
        if response.status != 200 or response.body["status"] in ("COMPLETED", "FAILED"):
            return response.body
        time.sleep(0.3)
    raise TimeoutError(generation_id)
