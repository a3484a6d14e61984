import { stringifyJson } from '../../../json/json.ts';
import { escapeText } from './template.ts';

type Mapping = Readonly<Record<string, unknown>>;

/** A check of a suite, whose params are values and no expressions. */
export type Check =
  | {
      readonly type: string;
      readonly params: Readonly<Record<string, unknown>>;
      readonly threshold?: { readonly min_score: number };
    }
  | { readonly not: Check }
  | { readonly all_of: readonly Check[] }
  | { readonly any_of: readonly Check[] };

/** An assertion of a test as an eval of the suite. */
export interface ImportedAssertion {
  /** What the eval is called: the metric, or the type. */
  readonly name: string;
  readonly check: Check;
  readonly weight: number;
}

/** A case by what judges it. */
interface Judged {
  readonly assertions: readonly ImportedAssertion[];
}

/** The evals of a suite, and what each case adds to them. */
export interface EvalPlan {
  readonly evals: readonly Mapping[];
  /** By the position of the case: params by the id of the eval. */
  readonly checks: readonly Mapping[];
}

interface Slot {
  readonly id: string;
  readonly assertion: ImportedAssertion;
  /** Params by case, and whether all are the same. */
  readonly rows: Map<number, readonly unknown[]>;
  readonly first: string;
  isConstant: boolean;
}

/**
 * Assertions of one form share an eval, whatever their params, so that 10^5 tests do not make 10^5 evals. Params that
 * are the same everywhere stand in the eval, others in the row.
 */
export function planEvals(cases: readonly Judged[]): EvalPlan {
  const slots = collectSlots(cases);
  const checks: Record<string, unknown>[] = cases.map(() => ({}));
  const evals = slots.map((slot) => {
    const isEverywhere = slot.rows.size === cases.length;
    if (!slot.isConstant || !isEverywhere) {
      for (const [index, params] of slot.rows) {
        const row = checks[index];
        if (row !== undefined) row[slot.id] = slot.isConstant ? true : params;
      }
    }
    return evalOf(slot, isEverywhere);
  });
  return { evals: evals.length > 0 ? evals : [answered], checks };
}

/** What a test without assertions asks for: an answer. */
const answered = { id: 'answered', type: 'regex', params: { pattern: '^' } };

function collectSlots(cases: readonly Judged[]): readonly Slot[] {
  const slots = new Map<string, Slot>();
  const ids = new Set<string>();
  for (const [index, { assertions }] of cases.entries()) {
    const seen = new Map<string, number>();
    for (const assertion of assertions) {
      const form = stringifyJson([assertion.name, assertion.weight, shapeOf(assertion.check)]);
      const count = (seen.get(form) ?? 0) + 1;
      seen.set(form, count);
      const key = `${count} ${form}`;
      const params = paramsOf(assertion.check);
      const text = stringifyJson(params);
      const slot = slots.get(key) ?? {
        id: freeId(assertion.name, ids),
        assertion,
        rows: new Map(),
        first: text,
        isConstant: true,
      };
      slots.set(key, slot);
      slot.rows.set(index, params);
      if (text !== slot.first) slot.isConstant = false;
    }
  }
  return [...slots.values()];
}

function freeId(name: string, taken: Set<string>): string {
  const base = nameOf(name);
  let id = base;
  for (let count = 2; taken.has(id); count += 1) id = `${base}-${count}`;
  taken.add(id);
  return id;
}

/** As the id of an eval is written. */
export function nameOf(name: string): string {
  // A name that begins with two underscores could be one that an object has already.
  return name.slice(0, 100).replaceAll(/[^\p{L}\p{N}_ .-]|^_+/gu, '-');
}

/** The check without its params. */
function shapeOf(check: Check): unknown {
  if ('not' in check) return { not: shapeOf(check.not) };
  if ('all_of' in check) return { all_of: check.all_of.map(shapeOf) };
  if ('any_of' in check) return { any_of: check.any_of.map(shapeOf) };
  return { type: check.type, threshold: check.threshold };
}

/** The params of all its parts, from left to right. */
function paramsOf(check: Check): readonly Mapping[] {
  if ('not' in check) return paramsOf(check.not);
  if ('all_of' in check) return check.all_of.flatMap(paramsOf);
  if ('any_of' in check) return check.any_of.flatMap(paramsOf);
  return [check.params];
}

function evalOf({ id, assertion, isConstant }: Slot, isEverywhere: boolean): Mapping {
  const { check, weight } = assertion;
  const name = JSON.stringify(id);
  let part = 0;
  const paramsFor = (params: Mapping): unknown => {
    const value = isConstant ? escapeAll(params) : `\${case.checks[${name}][${part}]}`;
    part += 1;
    return value;
  };
  return {
    id,
    ...(!isEverywhere && { if: `\${${name} in case.checks}` }),
    ...written(check, paramsFor, true),
    // A weight of 0 counts for nothing there, and is only recorded here.
    ...(weight === 0 ? { role: 'metric' } : weight !== 1 && { weight }),
  };
}

function written(check: Check, paramsFor: (params: Mapping) => unknown, isWhole: boolean): Mapping {
  if ('not' in check) return { not: written(judged(check.not), paramsFor, false) };
  if ('all_of' in check) return { all_of: check.all_of.map((each) => written(each, paramsFor, false)) };
  if ('any_of' in check) return { any_of: check.any_of.map((each) => written(each, paramsFor, false)) };
  const { type, params, threshold } = check;
  const bound = threshold ?? (isWhole ? undefined : { min_score: 1 });
  return { type, params: paramsFor(params), ...(bound !== undefined && { threshold: bound }) };
}

/** What is turned round counts as passed or not, never as a share. */
function judged(check: Check): Check {
  return 'type' in check && check.threshold === undefined ? { ...check, threshold: { min_score: 1 } } : check;
}

/** A value in which no text is an expression. */
function escapeAll(value: unknown): unknown {
  if (typeof value === 'string') return escapeText(value);
  if (Array.isArray(value)) return value.map(escapeAll);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, escapeAll(member)]));
}
