import fc from 'fast-check';

/** Marks every text of a person or a model. */
export const marker = /QZX\d+Z/g;

const rare = fc.noShrink(fc.uuid()).map((uuid) => uuid.slice(0, 13));

export const said = fc
  .tuple(
    fc.string({ maxLength: 4 }),
    rare,
    fc.nat(999_999),
    rare,
    fc.string({ unit: 'grapheme', maxLength: 4 }),
  )
  .map(([start, before, number, after, end]) => `${start}${before} QZX${number}Z ${after}${end}`);

export const plainId = fc.stringMatching(/^[a-z0-9_]{4,12}$/);
export const callId = fc.nat(50).map((number) => `toolu_${number}`);
export const sealed = fc
  .uint8Array({ minLength: 24, maxLength: 60 })
  .map((bytes) => Buffer.from([0xff, 0xfe, ...bytes]).toString('base64'));
export const cacheControl = fc.constantFrom({ type: 'ephemeral' }, { type: 'ephemeral', ttl: '1h' });

type Members = Record<string, fc.Arbitrary<unknown>>;

/** An object whose `optional` members may be absent, and which may have an unknown member. */
export function shaped(required: Members, optional: Members = {}): fc.Arbitrary<Record<string, unknown>> {
  const known = fc.record({ ...required, ...optional }, { requiredKeys: Object.keys(required) });
  const stranger = fc.tuple(said, fc.oneof(said, fc.record({ deep: fc.array(said, { maxLength: 2 }) })));
  return fc
    .tuple(known, fc.option(stranger, { freq: 4 }))
    .map(([object, more]) => (more === null ? object : { ...object, [more[0]]: more[1] }));
}

export function typed(type: string, members: Members, optional: Members = {}) {
  return shaped({ type: fc.constant(type), ...members }, optional);
}
