import { isObject } from '../../base/json/json.ts';
import { suggest } from '../../base/text/suggest.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import type { Finding } from '../../base/yaml/finding.ts';
import { itemsAt, textAt, valueAt } from '../../base/yaml/read.ts';
import { findGateMetric, gateMetricNames } from '../run/gates.ts';
import { variantNamesAt } from '../subject/validate-variants.ts';
import { evalIds, evalsPath, gatesPath, subjectPath } from './expressions.ts';

export function findBadGates(document: YamlDocument): Finding[] {
  const known = evalIds(document).map(({ id }) => id);
  const guards = new Set(
    itemsAt(document, evalsPath).flatMap((path) => {
      const item = valueAt(document, path);
      return isObject(item) && 'guard' in item && typeof item['id'] === 'string' ? [item['id']] : [];
    }),
  );
  return itemsAt(document, gatesPath).flatMap((item) => {
    const id = valueAt(document, [...item, 'eval']);
    return [
      ...(typeof id === 'string' && id !== '' && !known.includes(id)
        ? [
            {
              path: [...item, 'eval'],
              basis: evalsPath,
              message: `no eval of this suite has the id ${id}`,
              ...suggest(id, known, 'ids'),
            },
          ]
        : []),
      ...findBadVariants(document, item),
      ...findBadMetric(document, item, { isGuard: guards.has(String(id)), hasEval: id !== undefined }),
    ];
  });
}

interface GateContext {
  readonly isGuard: boolean;
  readonly hasEval: boolean;
}

function findBadMetric(document: YamlDocument, gate: Path, { isGuard, hasEval }: GateContext): Finding[] {
  const path = [...gate, 'metric'];
  const metric = valueAt(document, path);
  if (typeof metric !== 'string') return [];
  const info = findGateMetric(metric);
  if (info === undefined) {
    return [
      { path, message: `there is no metric ${metric}`, ...suggest(metric, gateMetricNames, 'metrics') },
    ];
  }
  const { unit, scope, hasTags, epochs } = info;
  const runs = valueAt(document, ['spec', 'repeat', 'epochs']) ?? 1;
  const hasTag = valueAt(document, [...gate, 'tag']) !== undefined;
  return [
    ...(scope === 'run' && hasEval
      ? [{ path: [...gate, 'eval'], message: `${metric} applies to the whole run; remove \`eval\`` }]
      : []),
    ...(scope !== 'cases' && scope !== 'run' && !hasEval
      ? [{ path, message: `${metric} applies to one eval; name it in \`eval\`` }]
      : []),
    ...(scope === 'guards' && hasEval && !isGuard
      ? [{ path, message: `${metric} applies only to guards, and this eval is not a guard` }]
      : []),
    ...(hasTag && !hasTags
      ? [{ path: [...gate, 'tag'], message: `${metric} is not available for a tag` }]
      : []),
    ...(unit === 'share' ? findBeyondOne(document, gate) : []),
    ...(typeof runs === 'number' && epochs > runs
      ? [
          {
            path,
            message: `${metric} needs at least ${epochs} epochs, but the suite runs ${runs}`,
            hint: 'Set repeat.epochs, or use --repeat.',
            severity: 'warning' as const,
          },
        ]
      : []),
  ];
}

function findBeyondOne(document: YamlDocument, gate: Path): Finding[] {
  return ['min', 'max'].flatMap((key) => {
    const bound = valueAt(document, [...gate, key]);
    if (typeof bound !== 'number' || bound <= 1) return [];
    return [
      {
        path: [...gate, key],
        message: `must be at most 1 (got: ${bound})`,
        ...(bound >= 10 &&
          bound <= 100 && { hint: `The maximum is 1: write ${bound / 100} for ${bound} %.` }),
      },
    ];
  });
}

function findBadVariants(document: YamlDocument, gate: Path): Finding[] {
  const items = itemsAt(document, [...gate, 'variants']);
  const base = [...gate, 'better_than'];
  const named = [...items, base].filter((path) => valueAt(document, path) !== undefined);
  if (named.length === 0) return [];
  const known = variantNamesAt(document, subjectPath);
  return [
    ...named.flatMap((path) => findUnknownVariant(document, path, known)),
    ...(valueAt(document, base) === undefined ? [] : findMisfits(document, gate, { items, known })),
  ];
}

function findUnknownVariant(document: YamlDocument, path: Path, known: readonly string[]): Finding[] {
  const name = textAt(document, path);
  if (name === undefined || name === '' || known.includes(name)) return [];
  if (known.length === 0) {
    const hint = 'Make `subject.chat.provider` a list, or use `subject.variants`.';
    return [{ path, message: 'names a variant, but the subject of this suite has none', hint }];
  }
  return [
    { path, message: `no variant of this suite is named ${name}`, ...suggest(name, known, 'variants') },
  ];
}

interface GateVariants {
  readonly items: readonly Path[];
  readonly known: readonly string[];
}

function findMisfits(document: YamlDocument, gate: Path, { items, known }: GateVariants): Finding[] {
  const base = textAt(document, [...gate, 'better_than']);
  const metric = valueAt(document, [...gate, 'metric']);
  const itself = items.filter((path) => textAt(document, path) === base);
  return [
    ...['min', 'max', 'tag'].flatMap((key) =>
      valueAt(document, [...gate, key]) === undefined
        ? []
        : [
            {
              path: [...gate, key],
              message: 'cannot be combined with better_than, which tests all cases',
            },
          ],
    ),
    ...(typeof metric === 'string' && !comparedMetrics.some((each) => each === metric)
      ? [
          {
            path: [...gate, 'metric'],
            message: `better_than compares ${comparedMetrics.join(' or ')}, not ${metric}`,
          },
        ]
      : []),
    ...itself.map((path) => ({ path, message: 'a variant cannot be better than itself' })),
    ...(items.length === 0 && known.length === 1 && known[0] === base
      ? [{ path: [...gate, 'better_than'], message: 'the suite has no other variant' }]
      : []),
  ];
}

const comparedMetrics = ['mean', 'pass_rate'] as const;
