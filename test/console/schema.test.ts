import { expect, expectTypeOf, test } from 'vitest';
import type { pendings } from '../../src/console/api/pendings.ts';
import {
  input,
  list,
  nullable,
  type ParamsOf,
  type QueryOf,
  type ReplyOf,
  type Static,
  text,
} from '../../src/console/api/schema.ts';
import type { PendingCheck, PendingCounts, PendingInfo, PendingPage } from '../../src/contract/approval.ts';

test('a schema is a type', () => {
  const schema = input({ a: text, b: list({ enum: ['x', 'y'] }) }, { c: nullable({ type: 'integer' }) });
  expect(JSON.parse(JSON.stringify(schema))).toEqual({
    type: 'object',
    required: ['a', 'b'],
    additionalProperties: false,
    properties: {
      a: { type: 'string' },
      b: { type: 'array', items: { enum: ['x', 'y'] } },
      c: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
    },
  });
  expectTypeOf<Static<typeof schema>>().toEqualTypeOf<{
    readonly a: string;
    readonly b: readonly ('x' | 'y')[];
    readonly c?: number | null;
  }>();
  expectTypeOf<ParamsOf<'GET /runs/{id}/x/{y}'>>().toEqualTypeOf<{
    readonly id: string;
    readonly y: string;
  }>();
  expectTypeOf<QueryOf<(typeof pendings)['GET /pendings']>['mine']>().toEqualTypeOf<boolean | undefined>();
  expectTypeOf<PendingInfo>().toExtend<ReplyOf<(typeof pendings)['GET /pendings/{id}']>>();
  expectTypeOf<PendingPage>().toExtend<ReplyOf<(typeof pendings)['GET /pendings']>>();
  expectTypeOf<PendingCounts>().toExtend<ReplyOf<(typeof pendings)['GET /pendings/counts']>>();
  expectTypeOf<PendingCheck>().toExtend<ReplyOf<(typeof pendings)['POST /pendings/{id}/check']>>();
  expectTypeOf<ReplyOf<(typeof pendings)['GET /pendings/{id}']>['status']>().toEqualTypeOf<
    PendingInfo['status']
  >();
});
