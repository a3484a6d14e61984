import { suggest } from '../../base/text/suggest.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import type { Finding } from '../../base/yaml/finding.ts';
import { itemsAt, textAt, valueAt } from '../../base/yaml/read.ts';
import { comparedMetrics } from '../matrix/compared-metrics.ts';
import { variantNamesAt } from '../subject/validate-variants.ts';
import { subjectPath } from './suite-paths.ts';

/** Variants that a gate names and the suite does not have, and what does not go with a gate between variants. */
export function findBadVariants(document: YamlDocument, gate: Path): Finding[] {
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
    const hint = 'Give `subject.chat.provider` a list, or `subject.variants`.';
    return [{ path, message: 'names a variant, and the subject of this suite has none', hint }];
  }
  return [
    { path, message: `no variant of this suite is named ${name}`, ...suggest(name, known, 'variants') },
  ];
}

interface GateVariants {
  /** Those that it names. */
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
              message: 'does not go with better_than, which is about all cases and has a test',
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
    ...itself.map((path) => ({ path, message: 'no variant is better than itself' })),
    ...(items.length === 0 && known.length === 1 && known[0] === base
      ? [{ path: [...gate, 'better_than'], message: 'there is no other variant in this suite' }]
      : []),
  ];
}
