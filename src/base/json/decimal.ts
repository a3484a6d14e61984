/**
 * Arithmetic without rounding. A double stands for the shortest decimal that reads back as it, such as `0.1`. So 0.3 +
 * 0.6 is 0.9, and the mean of equal scores is that score.
 */

/** `over` / `under` × 10^`exponent`; `under` is positive. */
export interface Exact {
  readonly over: bigint;
  readonly under: bigint;
  readonly exponent: number;
}

export interface Root {
  readonly rootOf: Exact;
}

/** Returns a negative number, 0 or a positive number, as a sort function does; NaN if either is NaN. */
export function compare(value: number | Exact | Root, bound: number | Exact): number {
  // Doubles have the same order as their shortest decimals.
  if (typeof value === 'number' && typeof bound === 'number')
    return value === bound ? 0 : value < bound ? -1 : value > bound ? 1 : Number.NaN;
  if (typeof bound === 'number' && !Number.isFinite(bound)) return -bound;
  if (typeof value === 'number' && !Number.isFinite(value)) return value;
  const limit = exact(bound);
  if (typeof value === 'object' && 'rootOf' in value)
    return limit.over < 0n ? 1 : compare(value.rootOf, multiply(limit, limit));
  const { over } = subtract(exact(value), limit);
  return over === 0n ? 0 : over < 0n ? -1 : 1;
}

/** Throws Error for a number that is not finite. */
export function exact(value: number | Exact | string): Exact {
  if (typeof value === 'object') return value;
  if (Number.isSafeInteger(value)) return { over: BigInt(value), under: 1n, exponent: 0 };
  const { sign, digits, exponent } = digitsOf(value);
  return { over: BigInt(`${sign}${digits || '0'}`), under: 1n, exponent };
}

export function add(a: Exact, b: Exact): Exact {
  const exponent = Math.min(a.exponent, b.exponent);
  const [one, other] = [a, b].map((each) => each.over * 10n ** BigInt(each.exponent - exponent));
  const [left = 0n, right = 0n] = [one, other];
  if (a.under === b.under) return { over: left + right, under: a.under, exponent };
  return { over: left * b.under + right * a.under, under: a.under * b.under, exponent };
}

export function subtract(a: Exact, b: Exact): Exact {
  return add(a, { ...b, over: -b.over });
}

export function multiply(a: Exact, b: Exact): Exact {
  return { over: a.over * b.over, under: a.under * b.under, exponent: a.exponent + b.exponent };
}

/** `b` must not be 0. */
export function divide(a: Exact, b: Exact): Exact {
  const sign = b.over < 0n ? -1n : 1n;
  const exponent = a.exponent - b.exponent;
  return { over: sign * a.over * b.under, under: sign * a.under * b.over, exponent };
}

export function share(part: number, whole: number): Exact {
  return divide(exact(part), exact(whole));
}

export function sumOf(numbers: readonly number[]): number {
  return toDouble(numbers.reduce((sum, number) => add(sum, exact(number)), exact(0)));
}

export function toDouble(value: Exact | Root): number {
  if ('rootOf' in value) return Math.sqrt(toDouble(value.rootOf));
  const { over, under, exponent } = value;
  if (over === 0n) return 0;
  const missing = Math.max(0, 25 + String(under).length - String(over).length);
  const scaled = over * 10n ** BigInt(missing);
  // A digit after the significant ones prevents a remainder from looking like a tie.
  const rest = scaled % under === 0n ? '' : '1';
  return Number(`${scaled / under}${rest}e${exponent - missing - rest.length}`);
}

/** An incremental sum; its state is the decimal as text. */
export interface DecimalSum {
  add(number: number): void;
  addProduct(a: number, b: number): void;
  exact(): Exact;
  /** Rounded once; the order of additions does not matter. */
  value(): number;
  state(): string;
  merge(other: string): void;
}

export function newDecimalSum(): DecimalSum {
  let sum: Exact = { over: 0n, under: 1n, exponent: 0 };
  // Most scores have few digits. Adding them as multiples of 10^-12 is five times as fast.
  let units = 0;
  const flush = (): void => {
    if (units !== 0) sum = add(sum, { over: BigInt(units), under: 1n, exponent: -2 * UNIT_DIGITS });
    units = 0;
  };
  const addUnits = (more: number): void => {
    units += more;
    if (Math.abs(units) > MOST_UNITS) flush();
  };
  const addExact = (more: Exact): void => {
    sum = add(sum, more);
  };
  return {
    add(number) {
      const count = unitsOf(number);
      if (count === undefined) addExact(exact(number));
      else addUnits(count * UNIT);
    },
    addProduct(a, b) {
      const [one, other] = [unitsOf(a), unitsOf(b)];
      if (one === undefined || other === undefined) addExact(multiply(exact(a), exact(b)));
      else addUnits(one * other);
    },
    exact() {
      flush();
      return sum;
    },
    value() {
      flush();
      return toDouble(sum);
    },
    state() {
      flush();
      return `${sum.over}e${sum.exponent}`;
    },
    merge: (other) => addExact(exact(other)),
  };
}

const UNIT_DIGITS = 6;
const UNIT = 10 ** UNIT_DIGITS;
/** Half of the largest exact integer range of a double, so that adding two is exact. */
const MOST_UNITS = 2 ** 52;

/** A number in -1..1 as a count of millionths; undefined for other numbers. */
function unitsOf(number: number): number | undefined {
  const count = Math.round(number * UNIT);
  return Math.abs(count) <= UNIT && count / UNIT === number ? count : undefined;
}

interface Digits {
  readonly sign: '-' | '';
  readonly digits: string;
  readonly exponent: number;
}

function digitsOf(value: number | string): Digits {
  const [, sign = '', whole = '', fraction = '', power = '0'] = DECIMAL.exec(String(value)) ?? [];
  if (whole === '') throw new Error(`${value} is not a decimal number`);
  const all = `${whole}${fraction}`.replace(/^0+/, '');
  const digits = withoutZerosAtEnd(all);
  if (digits === '') return { sign: '', digits, exponent: 0 };
  return {
    sign: sign === '-' ? '-' : '',
    digits,
    exponent: clamp(Number(power)) - fraction.length + (all.length - digits.length),
  };
}

/** Larger exponents need no distinction in a JSON text that fits in memory. */
const MOST_EXPONENT = 1e15;

function clamp(power: number): number {
  return Math.max(-MOST_EXPONENT, Math.min(MOST_EXPONENT, power));
}

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

function withoutZerosAtEnd(text: string): string {
  let end = text.length;
  while (text.charCodeAt(end - 1) === 0x30) end -= 1;
  return text.slice(0, end);
}

export function canonicalNumber(value: number | string): string {
  const { sign, digits, exponent } = digitsOf(value);
  return `${sign}${digits || '0'}e${exponent}`;
}

/** Compares by digits. The time depends only on the length of the texts, also for `1e999999999`. */
export function compareDecimals(a: number | string, b: number | string): number {
  if (typeof a === 'number' && typeof b === 'number') return compare(a, b);
  const [one, other] = [digitsOf(a), digitsOf(b)];
  if (one.sign !== other.sign || one.digits === '' || other.digits === '') return signOf(one) - signOf(other);
  const sign = one.sign === '-' ? -1 : 1;
  const tops = one.digits.length + one.exponent - (other.digits.length + other.exponent);
  if (tops !== 0) return sign * tops;
  return one.digits === other.digits ? 0 : one.digits < other.digits ? -sign : sign;
}

export function isWhole(value: string): boolean {
  const { digits, exponent } = digitsOf(value);
  return digits === '' || exponent >= 0;
}

function signOf({ sign, digits }: Digits): number {
  return digits === '' ? 0 : sign === '-' ? -1 : 1;
}

/** Compares by digits; the divisor must be positive. */
export function isMultipleOf(value: number | string, divisor: number | string): boolean {
  const [a, b] = [digitsOf(value), digitsOf(divisor)];
  if (a.digits === '') return true;
  const shift = a.exponent - b.exponent;
  // The digits do not end in zero, so they are not a multiple of a power of ten.
  if (shift < 0 || b.digits === '') return false;
  const modulus = BigInt(b.digits);
  let rest = 0n;
  for (let at = 0; at < a.digits.length; at += CHUNK) {
    const chunk = a.digits.slice(at, at + CHUNK);
    rest = (rest * 10n ** BigInt(chunk.length) + BigInt(chunk)) % modulus;
  }
  return (rest * tenToThe(shift, modulus)) % modulus === 0n;
}

const CHUNK = 18;

function tenToThe(power: number, modulus: bigint): bigint {
  let [result, base] = [1n, 10n];
  for (let left = BigInt(power); left > 0n; left >>= 1n) {
    if (left & 1n) result = (result * base) % modulus;
    base = (base * base) % modulus;
  }
  return result;
}

/** Four decimals, or as many more as distinguish it from each of `others`. */
export function formatNumber(number: number, others: readonly number[] = []): string {
  const isTold = (short: number) =>
    short === number || (!others.includes(short) && (short !== 0 || number === 0));
  const rounded = Math.abs(number) < 0.01 ? number.toPrecision(4) : number.toFixed(4);
  const shorts = [Number(rounded), Number(number.toPrecision(12))];
  return String(shorts.find(isTold) ?? number);
}
