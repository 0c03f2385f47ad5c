-- Further domains that customers of a shop visit, in lower case. A share link names one of these or the domain of the shop.
alter table shops add column extra_domains text[] not null default '{}'
  check (cardinality(extra_domains) <= 20 and extra_domains::text = lower(extra_domains::text));
