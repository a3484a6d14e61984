import { expect, test } from 'vitest';
import { type Scope, scopes } from '../../../src/contract/caller.ts';
import { mayCall, scopesOf } from '../../../src/gateway/keys/grants.ts';
import { keyRoles } from '../../../src/store/keys/key-book.ts';

const called = ['read_file', 'read_', 'write_file', 'Read_file', ''];
const reading = ['read_file', 'read_'];

/** Every role with every kind of list: the scopes, and which of `called` it may call. */
const table = [
  { role: null, tools: null, has: [], calls: [] },
  { role: null, tools: ['read_*'], has: ['tools:call'], calls: reading },
  { role: null, tools: ['*'], has: ['tools:call'], calls: called },
  { role: null, tools: [], has: ['tools:call'], calls: [] },
  { role: 'viewer', tools: null, has: ['pendings:read', 'runs:read'], calls: [] },
  { role: 'viewer', tools: ['read_*'], has: ['pendings:read', 'runs:read', 'tools:call'], calls: reading },
  { role: 'viewer', tools: ['*'], has: ['pendings:read', 'runs:read', 'tools:call'], calls: called },
  { role: 'viewer', tools: [], has: ['pendings:read', 'runs:read', 'tools:call'], calls: [] },
  {
    role: 'approver',
    tools: null,
    has: ['pendings:read', 'pendings:decide', 'runs:read', 'evals:rate'],
    calls: [],
  },
  {
    role: 'approver',
    tools: ['read_*'],
    has: ['pendings:read', 'pendings:decide', 'runs:read', 'evals:rate', 'tools:call'],
    calls: reading,
  },
  {
    role: 'approver',
    tools: ['*'],
    has: ['pendings:read', 'pendings:decide', 'runs:read', 'evals:rate', 'tools:call'],
    calls: called,
  },
  {
    role: 'approver',
    tools: [],
    has: ['pendings:read', 'pendings:decide', 'runs:read', 'evals:rate', 'tools:call'],
    calls: [],
  },
  { role: 'admin', tools: null, has: [...scopes], calls: called },
  { role: 'admin', tools: ['read_*'], has: [...scopes], calls: reading },
  { role: 'admin', tools: ['*'], has: [...scopes], calls: called },
  { role: 'admin', tools: [], has: [...scopes], calls: [] },
] as const;

test.each(table)(
  'a key with role $role and tools $tools has the scopes $has',
  ({ role, tools, has, calls }) => {
    const granted = scopesOf({ role, tools });
    expect([...granted].sort()).toEqual([...has].sort());
    expect(called.filter((tool) => mayCall({ scopes: granted, tools }, tool))).toEqual(calls);
  },
);

test('the table has every role with every kind of list', () => {
  const kinds = [null, ...keyRoles].flatMap((role) => [null, 'read_*', '*', ''].map((list) => [role, list]));
  expect(table.map(({ role, tools }) => [role, tools === null ? null : tools.join()])).toEqual(kinds);
});

test('a caller without the scope calls nothing, whatever its list says', () => {
  const without: readonly Scope[][] = [
    [],
    ['pendings:read'],
    ['pendings:decide'],
    ['pendings:read', 'pendings:decide'],
  ];
  for (const held of without)
    for (const tools of [null, [], ['*'], ['read_file']])
      expect(called.filter((tool) => mayCall({ scopes: new Set(held), tools }, tool))).toEqual([]);
});
