"""POST /try-on in every mode and shape, polling, erasure, credits."""

import time

from case import BY_URL, GARMENT, IMAGE_HOST, PERSON, InterfaceTest, image_id
from service import call, poll, send, upload


def person(**source):
    return {"image": {"source": source or {"id": image_id()}}}


class TryOn(InterfaceTest):
    def test_completes_and_costs_one_credit(self):
        before = self.assertSuccess(call("GET", "/account/credits"))["creditBalance"]
        self.assertIsInstance(before, int)
        uploaded = upload(PERSON, externalUserId="erased-user").body["imageId"]
        product = {
            "externalId": "worn", "title": "T-shirt", "description": "Yellow", "metadata": {"a": 1}, "validForDays": 30,
            "images": [{"source": {"fileKey": "shirt"}, "classifications": {"type": "flat_lay", "category": "tops"}}],
        }
        output = {"watermark": False, "keepForDays": 3}
        body = {"products": [product], "person": person(id=uploaded), "externalUserId": "erased-user", "output": output}
        accepted = self.try_on(body, files={"shirt": GARMENT})
        self.assertEqual(accepted["productExternalId"], "worn")
        done = poll(accepted["generationId"])
        self.assertEqual((done["generationId"], done["status"]), (accepted["generationId"], "COMPLETED"), done)
        self.assertNotIn("errorCode", done)
        self.assertNotIn("errorMessage", done)
        self.assertTime(done["createdAt"])
        self.assertTime(done["updatedAt"])
        result = send("GET", done["resultImageUrl"])
        self.assertEqual(result.status, 200)
        self.assertRegex(result.headers["Content-Type"], "^image/")
        self.assertLess(call("GET", "/account/credits").body["creditBalance"], before)
        self.assertEqual(call("GET", "/products/worn").body["validForDays"], 30)
        used = call("GET", "/products/worn").body
        self.assertTrue(any(name.startswith("lastUsed") and used[name] for name in used), used)
        self.erase("erased-user", accepted["generationId"], uploaded)

    def erase(self, customer, generation_id, uploaded):
        for _ in range(2):
            response = call("DELETE", f"/customers/{customer}")
            self.assertEqual((response.status, response.content), (204, b""))
        record = self.assertSuccess(call("GET", f"/generations/{generation_id}"))
        self.assertFalse(record.get("resultImageUrl"))
        body = {"products": [{"externalId": "worn"}], "person": person(id=uploaded)}
        self.assertGreaterEqual(call("POST", "/try-on", body).status, 400)

    def test_takes_every_mode_and_older_shape(self):
        self.assertSuccess(call("POST", "/products", {"externalId": "mode", "images": BY_URL}))
        photo = image_id()
        reference = {"externalId": "mode"}
        url = f"{IMAGE_HOST}/person.jpg"
        shapes = {
            "reference": {"products": [reference], "person": person()},
            "one-shot": {"products": [{"images": BY_URL}], "person": person()},
            "person by url": {"products": [reference], "person": person(url=url)},
            "output": {"products": [reference], "person": person(), "output": {"watermark": True, "keepForDays": 7}},
            "nulls": {"products": [{"externalId": "mode", "title": None, "images": None}], "person": person(),
                      "externalUserId": None, "output": None},
            "product": {"product": reference, "person": person()},
            "customer.source": {"product": reference, "customer": {"source": {"id": photo}}},
            "customer": {"product": {"images": [{"url": f"{IMAGE_HOST}/garment.jpg"}]}, "customer": {"id": photo},
                         "customerId": "user-9", "useWatermark": False, "retentionDays": 1},
            "both": {"products": [reference], "person": person(), "customer": {"id": "img_ignored"}},
        }
        ids = {}
        for name, body in shapes.items():
            with self.subTest(name):
                accepted = self.try_on(body)
                ids[name] = accepted["generationId"]
                anonymous = accepted["productExternalId"].startswith("_anon_")
                self.assertEqual(anonymous, name in ("one-shot", "customer"))
        body = {"products": [reference], "person": person(fileKey="me")}
        ids["file"] = self.try_on(body, files={"me": PERSON})["generationId"]
        for name in ("one-shot", "customer", "file"):
            self.assertEqual(poll(ids[name])["status"], "COMPLETED", name)

    def test_a_one_shot_product_is_a_reference_afterwards(self):
        anonymous = self.try_on({"products": [{"images": BY_URL}], "person": person()})["productExternalId"]
        product = self.assertSuccess(call("GET", f"/products/{anonymous}"))
        self.assertEqual(product["externalId"], anonymous)
        self.assertEqual(product["validForDays"], 7)
        self.assertSuccess(call("GET", f"/products/{anonymous}/stats"))
        self.try_on({"products": [{"externalId": anonymous}], "person": person()})
        self.assertSuccess(call("DELETE", f"/products/{anonymous}"))
        inline = {"products": [{"externalId": "inline", "images": BY_URL}], "person": person()}
        self.try_on(inline)
        self.assertEqual(call("GET", "/products/inline").body["validForDays"], 15)

    def test_fails_with_a_code_when_the_product_image_is_not_there(self):
        for path in ("/missing.jpg", "/page.html"):
            images = [{"source": {"url": IMAGE_HOST + path}}]
            accepted = self.try_on({"products": [{"images": images}], "person": person()})
            failed = poll(accepted["generationId"])
            self.assertEqual((failed["status"], failed["errorCode"]), ("FAILED", "PRODUCT_IMAGE_FETCH_FAILED"), failed)
            self.assertIsInstance(failed["errorMessage"], str)
            self.assertNotIn("resultImageUrl", failed)

    def test_is_accepted_once_under_an_idempotency_key(self):
        body = {"products": [{"externalId": "once", "images": BY_URL}], "person": person()}
        headers = {"Idempotency-Key": f"once-{time.time()}"}
        first, second = (self.try_on(body, headers=headers) for _ in range(2))
        self.assertEqual(first, second)

    def test_refuses_with_the_codes_of_the_interface(self):
        one = {"externalId": "refused", "images": BY_URL}
        for body, status, code in (
            ({"products": [{"externalId": "unknown"}], "person": person()}, 404, "PRODUCT_NOT_FOUND"),
            ({"products": [{"title": "x"}], "person": person()}, 400, "PRODUCT_IMAGES_REQUIRED"),
            ({"products": [{"images": []}], "person": person()}, 400, "PRODUCT_IMAGES_REQUIRED"),
            ({"products": [one]}, 400, "CUSTOMER_IMAGE_REQUIRED"),
            ({"products": [one], "person": None}, 400, "CUSTOMER_IMAGE_REQUIRED"),
            ({"products": [one], "person": person(url=f"{IMAGE_HOST}/missing.jpg")}, 400, "CUSTOMER_IMAGE_FETCH_FAILED"),
            ({"products": [one], "person": person(url="http://no-such-host.invalid/x.jpg")}, 400, "CUSTOMER_IMAGE_FETCH_FAILED"),
            ({"products": [one], "person": person(fileKey="none")}, 400, "MULTIPART_FILE_NOT_FOUND"),
            ({"products": [{"externalId": "_anon_mine", "images": BY_URL}], "person": person()}, 409, "RESERVED_EXTERNAL_ID"),
            ({"products": [{"images": [{"source": {}}]}], "person": person()}, 400, "INVALID_IMAGE_INPUT"),
            ({"products": [one, one], "person": person()}, 400, "VALIDATION_FAILED"),
            ({"products": [one], "person": person(id=image_id(), url=IMAGE_HOST)}, 400, "VALIDATION_FAILED"),
            ({"products": [one], "person": person(), "output": {"keepForDays": 2}}, 400, "VALIDATION_FAILED"),
            ({"products": [one], "person": person(), "output": {"watermark": "yes"}}, 400, "VALIDATION_FAILED"),
            (b"{", 400, "VALIDATION_FAILED"),
        ):
            with self.subTest(body):
                self.assertError(call("POST", "/try-on", body), status, code)
        on_model = [{"source": BY_URL[0]["source"], "classifications": {"type": "on_model"}}]
        error = call("POST", "/try-on", {"products": [{"images": on_model}], "person": person()})
        if error.status >= 400:
            self.assertIsInstance(self.assertError(error, 422, "MISSING_REQUIRED_CLASSIFICATION")["details"]["key"], str)
        too_large = call("POST", "/try-on", {"products": [one], "person": person(fileKey="me")},
                         files={"me": PERSON + bytes(10 * 1024 * 1024)})
        self.assertError(too_large, 413, "FILE_TOO_LARGE")
