import { evaluatedArguments } from '../../base/files/evaluated.ts';
import { takesInlineCode } from '../../base/files/script.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import { isAt, valueAt } from '../../base/yaml/read.ts';
import { foreignAt } from '../build/foreign-entries.ts';

/** What is done with the texts at and below a path: they are filled in, are left alone, or may have no reference. */
export type Treatment = 'filled' | 'left' | 'refused';

/**
 * The treatment of what stands at `path`. Code of other languages and schemas are left as they stand; an expression, or a text
 * in which other placeholders are filled in later, must have no reference: what a variable holds would be read as part of it.
 * `fill` fills a text in, and says nothing of what it lacks.
 */
export function treatmentAt(document: YamlDocument, path: Path, fill: (text: string) => string): Treatment {
  if (isAt(path, ...refused)) return 'refused';
  if (isAt(path, ...left)) return 'left';
  if (path[0] === 'spec' && path[1] === 'hooks' && path.length === 4) {
    const isForeign = foreignAt(document, path.slice(0, 3)) !== undefined;
    if (isForeign && !foreignFilled.has(String(path[3]))) return 'left';
  }
  if (path.at(-1) === 'args') return isInlineCode(document, path, fill) ? 'left' : 'filled';
  const index = path.at(-1);
  if (path.at(-2) !== 'args' || typeof index !== 'number') return 'filled';
  return findEvaluated(document, path.slice(0, -1), fill).has(index) ? 'refused' : 'filled';
}

/** The keys of a hook of another system that its own settings do not interpret. */
const foreignFilled: ReadonlySet<string> = new Set(['env', 'cwd', 'dialect', 'sandbox']);

const left: readonly string[] = [
  ...['input_schema', 'output_schema', 'mock_template'].map((key) => `spec.tools.*.${key}`),
  'spec.evals.*.script',
  '$schema',
];

const refused: readonly string[] = [
  ...[
    'apiVersion',
    'kind',
    'spec.env_file',
    'spec.public_env',
    'spec.tools.*.approval',
    'spec.approvals',
    'spec.hooks.*.match.when',
  ],
  ...['command', 'args', 'prefix', 'kill'].map((key) => `spec.sandboxes.*.${key}`),
];

/** As the process will be started, whatever of it a variable names. */
function isInlineCode(document: YamlDocument, path: Path, fill: (text: string) => string): boolean {
  return takesInlineCode(...commandLineAt(document, path, fill));
}

/** Of other programs that run code, wherever in the command line they stand, the value would become a part of the code. */
function findEvaluated(
  document: YamlDocument,
  path: Path,
  fill: (text: string) => string,
): ReadonlySet<number> {
  return evaluatedArguments(...commandLineAt(document, path, fill));
}

function commandLineAt(
  document: YamlDocument,
  path: Path,
  fill: (text: string) => string,
): [command: string, args: string[]] {
  const args = valueAt(document, path);
  const command = valueAt(document, [...path.slice(0, -1), 'command']);
  const words = Array.isArray(args) ? args.map((argument) => fill(String(argument))) : [];
  return [fill(String(command ?? '')), words];
}
