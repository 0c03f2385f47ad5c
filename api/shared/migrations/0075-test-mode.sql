-- The account that the test keys of an account belong to: everything of it is apart from everything of the account.
alter table accounts add column test_of text unique references accounts (id) check (test_of <> id);
