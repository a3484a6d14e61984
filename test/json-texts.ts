import fc from 'fast-check';

/** A JSON text with odd white space, escapes and duplicate keys, and what stands where in it. */
export interface Sample {
  /** Without surrounding white space. */
  readonly text: string;
  /** Of an object: its members in order, each value as its text. */
  readonly members: readonly (readonly [key: string, value: Sample])[];
  /** Of an array: its elements in order. */
  readonly elements: readonly Sample[];
}

const leaf = (text: string): Sample => ({ text, members: [], elements: [] });

const space = fc.stringMatching(/^[ \t\r\n]{0,3}$/);

/** The text of a number with up to 40 digits on each side of the point. */
export const numberText = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.stringMatching(/^(0|[1-9][0-9]{0,39})$/),
    fc.stringMatching(/^(\.[0-9]{1,40})?$/),
    fc.stringMatching(/^([eE][+-]?[0-9]{1,3})?$/),
  )
  .map((parts) => parts.join(''));

/** The text of a string, each character raw, as its short escape or as \uXXXX. */
export const stringText = fc
  .array(
    fc.tuple(
      fc.oneof(
        fc.constantFrom('"', '\\', '/', '\n', '\t', '{', '}', ',', 'é', '\ud800'),
        fc.string({ maxLength: 1 }),
      ),
      fc.nat(2),
    ),
  )
  .map((characters) => `"${characters.map(([character, way]) => spell(character, way)).join('')}"`);

function spell(character: string, way: number): string {
  const escaped = JSON.stringify(character).slice(1, -1);
  if (way === 0) return escaped;
  if (way === 1 && character === '/') return '\\/';
  return [...character].flatMap(toUnits).join('');
}

function toUnits(character: string): string[] {
  return character.split('').map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const scalar = fc.oneof(numberText, stringText, fc.constantFrom('true', 'false', 'null')).map(leaf);

/**
 * The key that is one backslash stays out: once V8 has an object with it, its JSON.parse may misread other
 * keys of one escaped character, and these tests compare with JSON.parse.
 */
const isFit = (key: string): boolean => key !== '\\';

/** Few keys, so that duplicates are common; some that JavaScript objects treat specially. */
const keyText = fc
  .oneof(
    fc.constantFrom('"a"', '"\\u0061"', '"b"', '""', '"1"', '"a.b"', '"__proto__"', '"constructor"'),
    stringText,
  )
  .filter((key) => isFit(JSON.parse(key)));

/** Any value that JSON can hold, as JavaScript has it. */
export const plainValue = fc.anything({
  key: fc.string().filter(isFit),
  values: [fc.string(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null)],
});

const { value } = fc.letrec<{ value: Sample; array: Sample; object: Sample }>((tie) => ({
  value: fc.oneof({ maxDepth: 4, withCrossShrink: true }, scalar, tie('array'), tie('object')),
  array: fc
    .tuple(space, fc.array(fc.tuple(space, tie('value'), space), { maxLength: 4 }))
    .map(([inner, elements]) => ({
      text: `[${elements.map(([before, element, after]) => before + element.text + after).join(',') || inner}]`,
      members: [],
      elements: elements.map(([, element]) => element),
    })),
  object: fc
    .tuple(space, fc.array(fc.tuple(space, keyText, space, tie('value'), space), { maxLength: 4 }))
    .map(([inner, members]) => ({
      text: `{${members.map(([a, key, b, member, c]) => `${a}${key}${b}:${c}${member.text}${a}`).join(',') || inner}}`,
      members: members.map(([, key, , member]) => [String(JSON.parse(key)), member] as const),
      elements: [],
    })),
}));

/** Any JSON value. */
export const anySample: fc.Arbitrary<Sample> = value;

/** Any JSON object. */
export const objectSample = value.filter(({ text }) => text.startsWith('{'));

/** Any JSON array. */
export const arraySample = value.filter(({ text }) => text.startsWith('['));

/** Whether some object in there has a key twice. */
export function hasDuplicate({ members, elements }: Sample): boolean {
  const keys = members.map(([key]) => key);
  return (
    new Set(keys).size !== keys.length ||
    members.some(([, member]) => hasDuplicate(member)) ||
    elements.some(hasDuplicate)
  );
}
