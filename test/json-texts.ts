import fc from 'fast-check';

/** A JSON text with odd white space, escapes and duplicate keys, and the positions of its parts. */
export interface Sample {
  readonly text: string;
  /** An object's members in order, each value as its text. */
  readonly members: readonly (readonly [key: string, value: Sample])[];
  readonly elements: readonly Sample[];
}

const leaf = (text: string): Sample => ({ text, members: [], elements: [] });

const space = fc.stringMatching(/^[ \t\r\n]{0,3}$/);

/** A number with up to 40 digits on each side of the point. */
export const numberText = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.stringMatching(/^(0|[1-9][0-9]{0,39})$/),
    fc.stringMatching(/^(\.[0-9]{1,40})?$/),
    fc.stringMatching(/^([eE][+-]?[0-9]{1,3})?$/),
  )
  .map((parts) => parts.join(''));

/** A string with each character raw, as its short escape or as \uXXXX. */
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
 * Excludes the key of one backslash: once V8 has an object with it, JSON.parse may misread other keys of one escaped
 * character. These tests compare with JSON.parse.
 */
const isFit = (key: string): boolean => key !== '\\';

/** Few keys, so that duplicates are common, including special ones of JavaScript objects. */
const keyText = fc
  .oneof(
    fc.constantFrom('"a"', '"\\u0061"', '"b"', '""', '"1"', '"a.b"', '"__proto__"', '"constructor"'),
    stringText,
  )
  .filter((key) => isFit(JSON.parse(key)));

/** Any JSON value as a JavaScript value. */
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

export const anySample: fc.Arbitrary<Sample> = value;

export const objectSample = value.filter(({ text }) => text.startsWith('{'));

export const arraySample = value.filter(({ text }) => text.startsWith('['));

/** Whether any object in the text has duplicate keys. */
export function hasDuplicate({ members, elements }: Sample): boolean {
  const keys = members.map(([key]) => key);
  return (
    new Set(keys).size !== keys.length ||
    members.some(([, member]) => hasDuplicate(member)) ||
    elements.some(hasDuplicate)
  );
}
