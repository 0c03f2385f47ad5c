"""The storefront surface: events, uploads, the fitting room, links, downloads."""

import json
import os
import time
import urllib.parse
import uuid

from case import PERSON, InterfaceTest
from service import BASE_URL, send, storefront

GID = os.environ["PRODUCT_GID"]
PUBLISHABLE_KEY = os.environ["PUBLISHABLE_KEY"]
NAMES = """widget:button_click widget:image_upload widget:generation_start widget:result_view widget:share_clicked
widget:download_clicked widget:add_to_cart_clicked widget:add_to_cart widget:email_collected product_page:page_view
product_page:cart_add""".split()
ANONYMOUS = "anon_f3b1"


def event(name, **more):
    return {"event": name, "timestamp": "2026-11-22T10:00:00.000Z", "$insert_id": str(uuid.uuid4()), **more}


CONTEXT = {
    "anonymous_id": ANONYMOUS, "session_id": "sess_1", "$pageview_id": "1", "widget_version": "wv_1", "widget_enabled": True,
    "product_id": None, "variant_id": None, "$screen_width": 0, "$screen_height": 0, "$timezone": "UTC",
    "$current_url": None, "$pathname": None, "$host": None, "$viewport_width": None, "$viewport_height": None,
    "$raw_user_agent": None, "$browser_language": None, "integration": "sdk",
}


class Events(InterfaceTest):
    def post(self, events, context=CONTEXT, key=PUBLISHABLE_KEY, **headers):
        sent = {"Content-Type": "application/json", "X-Service-Anonymous-Id": ANONYMOUS, **headers}
        if key:
            sent["Authorization"] = f"Bearer {key}"
        data = json.dumps({"events": events, "context": context}).encode()
        return send("POST", f"{BASE_URL}/storefront/v1/events", headers=sent, data=data)

    def test_takes_every_event(self):
        events = [event(name, properties={"a": 1}) for name in NAMES]
        for _ in range(2):
            self.assertEqual(self.post(events).body, {"success": True})
        with_customer = {"X-Service-Customer-Id": "1", "X-Service-Customer-Email": "a@shop.example"}
        self.assertEqual(self.post([event(NAMES[0])], **with_customer).body, {"success": True})

    def test_reports_bad_batches(self):
        for events in ([], [event(NAMES[0])] * 51, [{"event": NAMES[0]}], [event("no:event")]):
            body = self.post(events).body
            self.assertIs(body["success"], False)
            self.assertIsInstance(body["message"], str)
        self.assertEqual(self.post([event(NAMES[0])], key="pk_wrong").status, 401)

    def test_tracks_through_the_proxy(self):
        context = {
            "$current_url": "https://shop.example/p", "$pathname": "/p", "$host": "shop.example", "$referrer": None,
            "$referring_domain": None, "$screen_width": 1, "$screen_height": 1, "$viewport_width": 1, "$viewport_height": 1,
            "$raw_user_agent": "x", "$browser_language": "en", "$timezone": "UTC", "$session_id": "s", "$pageview_id": "p",
            "service_client_id": str(uuid.uuid4()), "service_widget_enabled": True, "service_product_id": None,
            "service_variant_id": None, "service_lib_version": "1",
        }
        names = NAMES[:1] + ["widget:button_view", "widget:modal_close", "widget:product_click", "api:error"]
        answer = storefront("POST", "/tracking/events", {"events": [event(name) for name in names], "context": context})
        self.assertEqual((answer.status, answer.body["success"]), (200, True), answer.content)


class FittingRoom(InterfaceTest):
    def upload(self):
        prepared = self.assertSuccess(storefront("POST", "/prepare-upload"))
        put = send("PUT", prepared["uploadUrl"], data=PERSON, headers={"Content-Type": "image/jpeg"})
        self.assertIn(put.status, range(200, 300), put.content)
        return self.assertSuccess(storefront("POST", "/upload-complete", {"uploadKey": prepared["uploadKey"]}))["fileId"]

    def test_from_photo_to_download(self):
        allowed = storefront("GET", "/check-credits")
        self.assertEqual(allowed.body, {"allowed": True})
        self.assertIn("max-age=120", allowed.headers["Cache-Control"])
        body = {"userImageId": self.upload(), "productId": GID}
        job = self.assertSuccess(storefront("POST", "/fitting-room", body))
        self.assertIsInstance(job["message"], str)
        self.assertNotIn("code", job)
        deadline = time.monotonic() + 240
        while True:
            generation = self.assertSuccess(storefront("GET", f"/generation/{job['jobId']}"))
            if generation["status"] in ("COMPLETED", "FAILED") or time.monotonic() > deadline:
                break
            time.sleep(0.3)
        self.assertEqual(generation["status"], "COMPLETED", generation)
        self.share(job["jobId"])
        self.download(generation["resultImageUrl"])

    def share(self, generation_id):
        link = self.assertSuccess(storefront("POST", "/share-generation", {"generationId": generation_id}))
        self.assertEqual(set(link), {"shareToken", "shareUrl", "expiresAt"})
        self.assertTrue(link["shareUrl"].endswith(f"/s/{link['shareToken']}"))
        self.assertTime(link["expiresAt"])
        again = storefront("POST", "/share-generation", {"generationId": generation_id, "effectiveDomain": "shop.example"})
        self.assertSuccess(again)
        shown = send("GET", link["shareUrl"])
        self.assertEqual(shown.status, 200)
        self.assertIsInstance(shown.body, dict)
        self.assertEqual(storefront("POST", "/share-generation", {}).status, 400)
        self.assertEqual(storefront("POST", "/share-generation", {"generationId": "gen_unknown"}).status, 404)

    def download(self, url):
        answer = storefront("GET", f"/download-image?url={urllib.parse.quote(url, safe='')}")
        self.assertEqual(answer.status, 200, answer.content[:200])
        self.assertIn(answer.headers["Content-Type"], ("image/jpeg", "image/png"))
        self.assertEqual(int(answer.headers["Content-Length"]), len(answer.content))
        self.assertRegex(answer.headers["Content-Disposition"], r"^attachment; filename=.*Your Try On")
        self.assertEqual(storefront("GET", "/download-image").status, 400)
        self.assertEqual(storefront("GET", "/download-image?url=nonsense").status, 400)

    def test_names_what_is_missing(self):
        answer = storefront("POST", "/fitting-room", {"userImageId": "none", "productId": GID})
        self.assertGreaterEqual(answer.status, 400)
        self.assertIsInstance(answer.body["message"], str)

    def test_collects_addresses(self):
        for body in ({"email": "anna@shop.example"}, {"email": "anna@shop.example", "marketingConsent": True}):
            answer = storefront("POST", "/collect-email", body)
            self.assertEqual((answer.status, answer.body["success"]), (200, True), answer.content)
        self.assertIs(storefront("POST", "/collect-email", {"email": "nobody"}).body["success"], False)
