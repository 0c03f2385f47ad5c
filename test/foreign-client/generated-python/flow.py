"""A flow with the client that openapi-python-client makes of the document (drape_client)."""

import os
import time
import urllib.request
from io import BytesIO
from pathlib import Path

from drape_client import AuthenticatedClient
from drape_client.api.account import get_account, get_credits
from drape_client.api.customers import erase_customer
from drape_client.api.generations import get_generation
from drape_client.api.images import upload_image
from drape_client.api.products import (
    delete_product,
    get_product,
    get_product_batch,
    get_product_statistics,
    list_products,
    upsert_product,
    upsert_products,
)
from drape_client.api.try_on import create_try_on, create_try_on_and_wait
from drape_client.models import (
    Error,
    ErrorCode,
    LegacyTryOn,
    ProductBatchInput,
    ProductInput,
    ProductInputImagesItem,
    ProductInputImagesItemSource,
    ProductInputMetadata,
    TryOn,
    TryOnPerson,
    TryOnPersonImage,
    TryOnPersonImageSource,
    TryOnProductsItem,
    UploadImageBody,
    UploadImageBodyKeepForDays,
)
from drape_client.types import UNSET, File

SHOPPER = "shopper-of-python"
BY_URL = [ProductInputImagesItem(source=ProductInputImagesItemSource(url=os.environ["GARMENT_URL"]))]


def succeed(answer):
    assert answer is not None and not isinstance(answer, Error), answer
    return answer


# An answer that the document does not have is an error.
client = AuthenticatedClient(
    os.environ["BASE_URL"], os.environ["API_KEY"], prefix="", auth_header_name="x-api-key", raise_on_unexpected_status=True
)
account = succeed(get_account.sync(client=client))
credits = succeed(get_credits.sync(client=client)).credit_balance
assert account.is_active and account.credit_balance == credits, account

photo = File(payload=BytesIO(Path(os.environ["PERSON_PHOTO"]).read_bytes()), file_name="photo.jpg", mime_type="image/jpeg")
form = UploadImageBody(file=photo, external_user_id=SHOPPER, keep_for_days=UploadImageBodyKeepForDays(1))
uploaded = succeed(upload_image.sync(client=client, body=form))

metadata = ProductInputMetadata.from_dict({"sku": 1})
sent = ProductInput(external_id="python-1", title="T-shirt", images=BY_URL, metadata=metadata)
product = succeed(upsert_product.sync(client=client, body=sent))
assert (product.external_id, product.images[0].order, product.valid_for_days) == ("python-1", 0, None), product

batch = succeed(upsert_products.sync(client=client, body=ProductBatchInput([ProductInput("python-2", images=BY_URL)])))
seen = succeed(get_product_batch.sync(batch.batch_id, client=client))
assert [item.external_id for item in seen.items] == ["python-2"], seen
ids = {item.external_id for item in succeed(list_products.sync(client=client, limit=200)).items}
assert {"python-1", "python-2"} <= ids, ids

person = TryOnPerson(image=TryOnPersonImage(source=TryOnPersonImageSource(id=uploaded.image_id)))
body = TryOn(products=[TryOnProductsItem(external_id="python-1")], person=person, external_user_id=SHOPPER)
accepted = succeed(create_try_on.sync(client=client, body=body))
while True:
    generation = succeed(get_generation.sync(accepted.generation_id, client=client))
    assert generation.status != "FAILED", generation
    if generation.status == "COMPLETED":
        break
    time.sleep(0.3)
with urllib.request.urlopen(generation.result_image_url) as response:
    assert response.headers["Content-Type"].startswith("image/")
awaited = succeed(create_try_on_and_wait.sync(client=client, body=body))
assert awaited.status in ("PENDING", "PROCESSING", "COMPLETED"), awaited
assert succeed(get_credits.sync(client=client)).credit_balance == credits - 2
assert succeed(get_product_statistics.sync("python-1", client=client)).total_generations == 2

refused = create_try_on.sync(client=client, body=LegacyTryOn(external_user_id=SHOPPER))
assert (refused.code, refused.status) == (ErrorCode.CUSTOMER_IMAGE_REQUIRED, 400), refused
invalid = upsert_product.sync(client=client, body=ProductInput("python-1", valid_for_days=0))
assert [detail.path for detail in invalid.details] == ["validForDays"], invalid

assert erase_customer.sync_detailed(SHOPPER, client=client).status_code == 204
forgotten = succeed(get_generation.sync(accepted.generation_id, client=client))
assert forgotten.result_image_url is UNSET and forgotten.images_expired is True, forgotten

assert succeed(delete_product.sync("python-1", client=client)).deleted
assert get_product.sync("python-1", client=client).code == ErrorCode.PRODUCT_NOT_FOUND
