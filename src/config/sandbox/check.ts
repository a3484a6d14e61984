import { suggest } from '../../base/text/suggest.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import type { Finding } from '../../base/yaml/finding.ts';
import { entriesAt, itemsAt, nonEmptyTextAt } from '../../base/yaml/read.ts';
import { findSandboxFaults } from './faults.ts';
import { findSandbox } from './read.ts';

type Severity = 'error' | 'warning';
type Capability = keyof typeof consequenceOf;

/** What becomes of a call whose process never starts. */
export const consequenceOf = {
  tool: 'a call of the tool fails',
  eval: 'the eval stays unscored',
  hook: 'a filter denies',
} as const;

/** The problems of `spec.sandboxes`, and of the imports that name one. */
export function checkSandboxes(document: YamlDocument, tolerated: Severity): Finding[] {
  const own = entriesAt(document, ['spec', 'sandboxes']).flatMap(({ path }) =>
    findSandboxFaults(document, path).map((fault): Finding => {
      if (tolerated === 'error') return fault;
      return {
        ...fault,
        severity: 'warning',
        message: `${fault.message}; what names the sandbox never starts`,
      };
    }),
  );
  const imports = itemsAt(document, ['spec', 'imports']).flatMap((path) =>
    checkSandbox(document, { capability: 'hook', path }, tolerated),
  );
  return [...own, ...imports];
}

/** The problems of the sandbox that an entry names. */
export function checkSandbox(
  document: YamlDocument,
  entry: { readonly capability: Capability; readonly path: Path },
  tolerated: Severity,
): Finding[] {
  const path = [...entry.path, 'sandbox'];
  const name = nonEmptyTextAt(document, path);
  if (name === undefined) return [];
  const neverStarts = `it never starts: ${consequenceOf[entry.capability]}`;
  const sandbox = findSandbox(document, name);
  if (sandbox === undefined) {
    const severity = entry.capability === 'hook' ? 'error' : tolerated;
    const known = entriesAt(document, ['spec', 'sandboxes']).map((declared) => declared.name);
    const consequence = severity === 'error' ? '' : `; ${neverStarts}`;
    const message = `references a sandbox not declared under spec.sandboxes${consequence}`;
    const hint = known.length === 0 ? 'Declare it under spec.sandboxes.' : undefined;
    return [{ severity, path, message, hint, ...suggest(name, known, 'sandboxes') }];
  }
  if (sandbox.mode !== 'refused') return [];
  return [{ severity: 'warning', path, message: `${sandbox.reason}; ${neverStarts}` }];
}
