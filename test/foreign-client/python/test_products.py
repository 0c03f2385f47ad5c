"""The catalog: POST, GET and DELETE /products, statistics."""

from case import BY_URL, GARMENT, IMAGE_HOST, InterfaceTest
from service import call

FIELDS = {"externalId", "images", "metadata", "validForDays", "expiresAt", "createdAt", "updatedAt"}


class Products(InterfaceTest):
    def upsert(self, external_id, **fields):
        return self.assertSuccess(call("POST", "/products", {"externalId": external_id, **fields}))

    def test_creates_and_reads_a_product(self):
        metadata = {"b": [1, {"c": None}], "a": 1.5, "id": 12345678901234567890}
        made = self.upsert("p-1", title="Shirt", description="Cotton", images=BY_URL, metadata=metadata)
        self.assertTrue(FIELDS <= set(made), made)
        self.assertEqual([(i["sourceUrl"], i["order"]) for i in made["images"]], [(f"{IMAGE_HOST}/garment.jpg", 0)])
        self.assertEqual(list(made["metadata"].items()), list(metadata.items()))
        self.assertEqual((made["validForDays"], made["expiresAt"]), (None, None))
        self.assertTime(made["createdAt"])
        self.assertTime(made["updatedAt"])
        self.assertEqual(self.assertSuccess(call("GET", "/products/p-1")), made)

    def test_merges_partial_updates(self):
        self.upsert("p-2", title="Old", images=BY_URL, metadata={"a": 1}, validForDays=30)
        merged = self.upsert("p-2", description="New")
        self.assertEqual((merged["metadata"], merged["validForDays"]), ({"a": 1}, 30))
        self.assertTime(merged["expiresAt"])
        self.assertEqual(len(merged["images"]), 1)
        two = [{"source": {"url": "https://shop.example/2.jpg"}}, {"source": {"url": "https://shop.example/1.jpg"}}]
        replaced = self.upsert("p-2", images=two)
        self.assertEqual([i["sourceUrl"][-5] for i in replaced["images"]], ["2", "1"])
        self.assertEqual([i["order"] for i in replaced["images"]], [0, 1])
        forever = self.upsert("p-2", validForDays=None)
        self.assertEqual((forever["validForDays"], forever["expiresAt"]), (None, None))

    def test_takes_files_and_older_shapes(self):
        body = {"externalId": "p-3", "images": [{"source": {"fileKey": "front"}, "classifications": {"type": "flat_lay"}}]}
        made = self.assertSuccess(call("POST", "/products", body, files={"front": GARMENT}))
        self.assertTrue(made["images"][0]["sourceUrl"].startswith("upload://"))
        self.upsert("p-4", imageUrls=["https://shop.example/1.jpg"])
        self.upsert("p-5", images=[{"url": "https://shop.example/1.jpg", "classifications": {"on_model": False}}])
        self.assertSuccess(call("POST", "/products", {"externalId": "p-6", "images": [{"fileKey": "x"}]}, files={"x": GARMENT}))

    def test_takes_null_for_what_is_optional(self):
        made = self.upsert("p-7", title=None, description=None, images=BY_URL, metadata=None, imageUrls=None)
        self.assertEqual(made["metadata"], None)

    def test_lists_page_by_page(self):
        for i in range(3):
            self.upsert(f"list-{i}", images=BY_URL)
        seen, cursor = [], None
        while True:
            page = self.assertSuccess(call("GET", "/products?limit=2" + (f"&cursor={cursor}" if cursor else "")))
            self.assertEqual(set(page), {"items", "nextCursor", "hasMore", "count"})
            self.assertEqual(page["count"], len(page["items"]))
            self.assertEqual(page["hasMore"], page["nextCursor"] is not None)
            seen += [item["externalId"] for item in page["items"]]
            cursor = page["nextCursor"]
            if cursor is None:
                break
        self.assertEqual(len(seen), len(set(seen)))
        self.assertTrue({"list-0", "list-1", "list-2"} <= set(seen))
        self.assertFalse([name for name in seen if name.startswith("_anon_")])
        for limit in ("0", "201", "x"):
            self.assertError(call("GET", f"/products?limit={limit}"), 400, "VALIDATION_FAILED")
        self.assertSuccess(call("GET", "/products?limit=200"))

    def test_deletes(self):
        self.upsert("gone/1 ü", images=BY_URL)
        path = "/products/gone%2F1%20%C3%BC"
        self.assertSuccess(call("GET", path))
        self.assertSuccess(call("DELETE", path))
        for method, tail in (("GET", ""), ("DELETE", ""), ("GET", "/stats")):
            self.assertError(call(method, path + tail), 404, "PRODUCT_NOT_FOUND")

    def test_counts_generations(self):
        self.upsert("counted", images=BY_URL)
        for query in ("", "?from=2026-01-01T00:00:00Z&to=2026-12-31", "?from=2026-01-01T00:00:00%2B02:00"):
            counts = self.assertSuccess(call("GET", f"/products/counted/stats{query}"))
            names = {"totalGenerations", "completedGenerations", "failedGenerations", "avgGenerationTimeMs"}
            self.assertEqual({name: counts[name] for name in names}, dict.fromkeys(names, 0))
        self.assertError(call("GET", "/products/counted/stats?from=yesterday"), 400, "VALIDATION_FAILED")

    def test_refuses_with_the_codes_of_the_interface(self):
        for body, status, code in (
            ({"images": BY_URL}, 400, "EXTERNAL_ID_REQUIRED"),
            ({"externalId": "_anon_x", "images": BY_URL}, 409, "RESERVED_EXTERNAL_ID"),
            ({"externalId": "bare"}, 400, "PRODUCT_IMAGES_REQUIRED"),
            ({"externalId": "bare", "images": []}, 400, "PRODUCT_IMAGES_REQUIRED"),
            ({"externalId": "bare", "images": None}, 400, "PRODUCT_IMAGES_REQUIRED"),
            ({"externalId": "bare", "images": [{"source": {}}]}, 400, "INVALID_IMAGE_INPUT"),
            ({"externalId": "bare", "images": [{"source": {"url": None}}]}, 400, "INVALID_IMAGE_INPUT"),
            ({"externalId": "bare", "images": BY_URL, "validForDays": 0}, 400, "VALIDATION_FAILED"),
            ({"externalId": "bare", "images": BY_URL, "validForDays": 366}, 400, "VALIDATION_FAILED"),
            ({"externalId": "bare", "images": [{"source": {"fileKey": "no"}}]}, 400, "MULTIPART_FILE_NOT_FOUND"),
        ):
            with self.subTest(body):
                error = self.assertError(call("POST", "/products", body), status, code)
                if code == "VALIDATION_FAILED":
                    self.assertEqual([set(detail) for detail in error["details"]], [{"path", "message"}])
        self.assertEqual(call("PATCH", "/products/counted", {"title": "x"}).status, 404)
