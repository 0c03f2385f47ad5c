"""What the tests of the interface share: photos, a server of product images, and assertions on its shapes."""

import http.server
import os
import re
import threading
import unittest
from pathlib import Path

from service import call, upload

PERSON = Path(os.environ["PERSON_PHOTO"]).read_bytes()
GARMENT = Path(os.environ["GARMENT_PHOTO"]).read_bytes()
IMAGE_HOST = f"http://127.0.0.1:{os.environ['IMAGE_PORT']}"
ISO_8601 = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$")


class ImageHost(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        found = {"/garment.jpg": GARMENT, "/person.jpg": PERSON, "/page.html": b"<html></html>"}.get(self.path)
        self.send_response(200 if found else 404)
        self.send_header("Content-Length", str(len(found or b"")))
        self.end_headers()
        self.wfile.write(found or b"")

    def log_message(self, *_):
        pass


HOST = http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["IMAGE_PORT"])), ImageHost)
threading.Thread(target=HOST.serve_forever, daemon=True).start()

BY_URL = [{"source": {"url": f"{IMAGE_HOST}/garment.jpg"}}]
_uploaded = []


def image_id():
    """The id of a photo that is uploaded once."""
    if not _uploaded:
        _uploaded.append(upload(PERSON).body["imageId"])
    return _uploaded[0]


class InterfaceTest(unittest.TestCase):
    maxDiff = None

    def assertTime(self, text):
        self.assertRegex(text, ISO_8601)

    def assertSuccess(self, response):
        self.assertIn(response.status, range(200, 300), response.content)
        return response.body

    def assertError(self, response, status, code):
        self.assertEqual((response.status, response.body.get("code")), (status, code), response.content)
        self.assertIsInstance(response.body["message"], str)
        self.assertEqual(response.body["status"], status)
        self.assertTrue(set(response.body) <= {"code", "message", "status", "details"}, response.body)
        return response.body

    def try_on(self, body, **options):
        answer = self.assertSuccess(call("POST", "/try-on", body, **options))
        self.assertIsInstance(answer["generationId"], str)
        self.assertEqual(answer["status"], "PENDING")
        self.assertIsInstance(answer["productExternalId"], str)
        return answer
