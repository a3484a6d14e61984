import fc from 'fast-check';
import { expect, test } from 'vitest';
import { loadText } from './validate-support.ts';

/** An unnamed step. A leaf is a tool step. */
interface Shape {
  readonly kind: 'tool' | 'steps' | 'parallel';
  readonly inner: readonly Shape[];
  readonly otherwise: readonly Shape[];
  readonly handler: readonly Shape[];
  readonly loops: boolean;
}

interface Named extends Omit<Shape, 'inner' | 'otherwise' | 'handler'> {
  readonly id: string;
  readonly inner: readonly Named[];
  readonly otherwise: readonly Named[];
  readonly handler: readonly Named[];
}

const { shape } = fc.letrec<{ shape: Shape }>((tie) => ({
  shape: fc.oneof(
    { depthSize: 'small', maxDepth: 3, withCrossShrink: true },
    fc.record({
      kind: fc.constant('tool' as const),
      inner: fc.constant([]),
      otherwise: fc.constant([]),
      handler: fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, fc.array(tie('shape'), { maxLength: 1 })),
      loops: fc.boolean(),
    }),
    fc.record({
      kind: fc.constantFrom('steps' as const, 'parallel' as const),
      inner: fc.array(tie('shape'), { minLength: 1, maxLength: 3 }),
      otherwise: fc.array(tie('shape'), { maxLength: 1 }),
      handler: fc.array(tie('shape'), { maxLength: 1 }),
      loops: fc.boolean(),
    }),
  ),
}));

function nameAll(shapes: readonly Shape[], count: { next: number }): readonly Named[] {
  return shapes.map((each) => {
    const id = `s${count.next++}`;
    const isChoice = each.kind === 'steps' && !each.loops;
    return {
      ...each,
      id,
      inner: nameAll(each.inner, count),
      otherwise: isChoice ? nameAll(each.otherwise, count) : [],
      handler: nameAll(each.handler, count),
    };
  });
}

function idsOf(steps: readonly Named[]): readonly string[] {
  return steps.flatMap((step) => [
    step.id,
    ...idsOf(step.inner),
    ...idsOf(step.otherwise),
    ...idsOf(step.handler),
  ]);
}

/** Every tool step refers to every step of the file. */
function toYaml(steps: readonly Named[], ids: readonly string[]): readonly object[] {
  const args = Object.fromEntries(ids.map((id) => [id, `\${steps.${id}.status}`]));
  return steps.map(({ id, kind, inner, otherwise, handler, loops }) => ({
    id,
    ...(kind === 'tool' ? { tool: 't', args } : { [kind]: toYaml(inner, ids) }),
    ...(otherwise.length > 0 ? { if: '${input.x}', else: toYaml(otherwise, ids) } : {}),
    ...(handler.length > 0 ? { on_error: { steps: toYaml(handler, ids) } } : {}),
    ...(loops ? { for_each: [1] } : {}),
  }));
}

/**
 * Runs the steps as the engine does, fails each one whose failure is handled, and records which outputs each step sees.
 */
function play(
  steps: readonly Named[],
  seen: Set<string>,
  note: (site: string, seen: ReadonlySet<string>) => void,
) {
  for (const step of steps) {
    const body = step.loops ? new Set(seen) : seen;
    if (step.kind === 'tool') note(step.id, body);
    if (step.kind === 'steps') {
      const other = new Set(body);
      play(step.inner, body, note);
      play(step.otherwise, other, note);
      for (const id of other) body.add(id);
    }
    if (step.kind === 'parallel') {
      const branches = step.inner.map((branch) => {
        const own = new Set(body);
        play([branch], own, note);
        return own;
      });
      for (const id of branches.flatMap((own) => [...own])) body.add(id);
    }
    seen.add(step.id);
    play(step.handler, seen, note);
  }
}

/** `site target` of every reference that loading accepts. */
function accepted(steps: readonly Named[], ids: readonly string[]): readonly string[] {
  const places = new Map<string, string>();
  collectPlaces(steps, 'steps', places);
  const text = JSON.stringify({
    apiVersion: 'signalbox/v1',
    kind: 'Pipeline',
    spec: { steps: toYaml(steps, ids) },
  });
  const refused = loadText(text).problems.map((problem) => {
    const [, place = '', target = ''] =
      /^\d+:\d+ (\S+)\.args\.(\S+): `steps\.\S+` is not available here/.exec(problem) ?? [];
    return `${places.get(place) ?? problem} ${target}`;
  });
  const sites = [...places.values()];
  const all = sites.flatMap((site) => ids.map((id) => `${site} ${id}`));
  expect(refused.filter((question) => !all.includes(question))).toEqual([]);
  return all.filter((question) => !refused.includes(question));
}

function collectPlaces(steps: readonly Named[], list: string, places: Map<string, string>): void {
  for (const [index, step] of steps.entries()) {
    const place = `${list}[${index}]`;
    if (step.kind === 'tool') places.set(place, step.id);
    collectPlaces(step.inner, `${place}.${step.kind}`, places);
    collectPlaces(step.otherwise, `${place}.else`, places);
    collectPlaces(step.handler, `${place}.on_error.steps`, places);
  }
}

test('an expression may read exactly those steps that a run can have finished by then', () => {
  fc.assert(
    fc.property(fc.array(shape, { minLength: 1, maxLength: 3 }), (shapes) => {
      const steps = nameAll(shapes, { next: 0 });
      const ids = idsOf(steps);
      fc.pre(ids.length <= 24);
      const seen: string[] = [];
      play(steps, new Set(), (site, known) => {
        for (const id of ids) if (known.has(id)) seen.push(`${site} ${id}`);
      });
      expect([...accepted(steps, ids)].toSorted()).toEqual(seen.toSorted());
    }),
    { numRuns: 150 },
  );
});
