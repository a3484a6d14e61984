import { endOfString } from '../../../json/ends.ts';

/**
 * Rewrites a JSON text as Python's `json.dumps` would print it: `, ` and `: ` as separators, non-ASCII
 * characters escaped, floats as by `repr`. Integers keep their digits, and so do numbers beyond the range of
 * a double.
 */
export function toPythonJson(text: string): string {
  const parts: string[] = [];
  for (let at = 0; at < text.length; ) {
    const character = text.charAt(at);
    if (character === '"') {
      const end = endOfString(text, at);
      parts.push(writeString(text.slice(at, end)));
      at = end;
    } else if (isNumeral(character)) {
      const [numeral = character] = numeralAt(text, at);
      parts.push(writeNumber(numeral));
      at += numeral.length;
    } else {
      if (!/\s/.test(character)) parts.push(separators[character] ?? character);
      at += 1;
    }
  }
  return parts.join('');
}

const separators: Readonly<Record<string, string>> = { ',': ', ', ':': ': ' };

function isNumeral(character: string): boolean {
  return character === '-' || (character >= '0' && character <= '9');
}

function numeralAt(text: string, at: number): RegExpExecArray | [] {
  const numeral = /[-+0-9.eE]+/y;
  numeral.lastIndex = at;
  return numeral.exec(text) ?? [];
}

function writeString(token: string): string {
  if (/^[ -~]*$/.test(token) && !token.includes('\\')) return token;
  const text = String(JSON.parse(token));
  return `"${text.replaceAll(/["\\]|[^ -~]/g, writeUnit)}"`;
}

/** One UTF-16 unit at a time, as Python writes surrogate pairs. */
function writeUnit(unit: string): string {
  return shortEscapes[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

const shortEscapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\f': '\\f',
  '\b': '\\b',
};

function writeNumber(numeral: string): string {
  if (!/[.eE]/.test(numeral)) return numeral === '-0' ? '0' : numeral;
  const value = Number(numeral);
  // Python would write `Infinity`, which no reader of JSON but Python takes.
  return Number.isFinite(value) ? writeFloat(value) : numeral;
}

/** Python's repr: the fewest digits that are the number, with an exponent below -4 and from 16 on. */
function writeFloat(value: number): string {
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  const [mantissa = '0', exponent = '0'] = Math.abs(value).toExponential().split('e');
  const digits = mantissa.replace('.', '');
  const power = Number(exponent);
  if (power < -4 || power >= 16) return `${sign}${mantissa}e${writeExponent(power)}`;
  if (power < 0) return `${sign}0.${'0'.repeat(-power - 1)}${digits}`;
  const whole = digits.slice(0, power + 1).padEnd(power + 1, '0');
  return `${sign}${whole}.${digits.slice(power + 1) || '0'}`;
}

function writeExponent(power: number): string {
  return `${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}
