from __future__ import annotations

import json
import unittest

from drape_client import DrapeWebhookError, verify_webhook

# The example of the Standard Webhooks specification.
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
BODY = '{"test": 2432232314}'
HEADERS = {
    "Webhook-Id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "Webhook-Timestamp": "1614265330",
    "Webhook-Signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
}
NOW = 1614265330


class WebhookTest(unittest.TestCase):
    def test_accepts_any_of_several_secrets_and_signatures(self) -> None:
        for secrets in (SECRET, ["whsec_b3RoZXIgc2VjcmV0", SECRET]):
            self.assertEqual(verify_webhook(BODY, HEADERS, secrets, now=NOW), json.loads(BODY))
        rotated = {**HEADERS, "Webhook-Signature": f"v1,AAAA v1a,x {HEADERS['Webhook-Signature']}"}
        self.assertEqual(verify_webhook(BODY.encode(), rotated, SECRET, now=NOW + 299), json.loads(BODY))

    def test_refuses_what_is_not_signed_or_old(self) -> None:
        for name, body, headers, secret, now in (
            ("changed", BODY + " ", HEADERS, SECRET, NOW),
            ("old", BODY, HEADERS, SECRET, NOW + 301),
            ("early", BODY, HEADERS, SECRET, NOW - 301),
            ("time", BODY, {**HEADERS, "Webhook-Timestamp": "٣"}, SECRET, NOW),
            ("missing", BODY, {}, SECRET, NOW),
            ("signature", BODY, {**HEADERS, "Webhook-Signature": "ü"}, SECRET, NOW),
            ("other secret", BODY, HEADERS, "whsec_b3RoZXIgc2VjcmV0", NOW),
            ("no secret", BODY, HEADERS, "whsec_", NOW),
            ("no base64", BODY, HEADERS, "whsec_!", NOW),
        ):
            with self.subTest(name), self.assertRaises(DrapeWebhookError):
                verify_webhook(body, headers, secret, now=now)
