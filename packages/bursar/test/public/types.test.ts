import type {
  ChargeOperation,
  CommitOperation,
  ExtendOperation,
  JournalOperation,
  LifeOperation,
  OpenOperation,
  Operation,
  PutOperation,
  ReleaseOperation,
  ReserveOperation,
  StoreFault,
} from "bursar";
import { StoreError } from "bursar";
import * as sqlite from "bursar/sqlite";
import * as store from "bursar/store";
import { expect, expectTypeOf, test } from "vitest";

test("the operations of a store can be named", () => {
  type Named = ChargeOperation | CommitOperation | ExtendOperation | JournalOperation | LifeOperation | OpenOperation;
  expectTypeOf<Named | PutOperation | ReleaseOperation | ReserveOperation>().toExtend<Operation>();
});

test("the error of a store is one class everywhere, and its code one of those that are known", () => {
  expect([sqlite.StoreError, store.StoreError]).toEqual([StoreError, StoreError]);
  expectTypeOf<StoreError["code"]>().toEqualTypeOf<StoreFault>();
  expect(new StoreError("store_filled", "it is there").code).toBe("store_filled");
});
