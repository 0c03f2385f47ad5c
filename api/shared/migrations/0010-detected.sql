-- What workers saw in the product's images: { "edition": images_edition, "images": { "<order>": { type, view, category, confidence } } }.
-- Another edition's is out of date. Apart from the images, so that looking at one is no edit of the product.
alter table products add column detected jsonb;
