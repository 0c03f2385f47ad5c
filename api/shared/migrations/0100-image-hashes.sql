-- Perceptual hashes of stored photos and results, by which removal requests find copies. A hash ends with its object.
create table image_hashes (
  object_key text primary key references objects (key) on delete cascade,
  -- Null: the image shows too little, or is damaged. No request finds it.
  hash bit(256)
);
