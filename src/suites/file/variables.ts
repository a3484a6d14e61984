import type { YamlDocument } from '../../base/yaml/document.ts';
import { valueAt } from '../../base/yaml/read.ts';

/** The variables of expressions that are evaluated before the subject answers. */
export const rowVariables: readonly string[] = ['case'];

/**
 * The variables of expressions that are evaluated after the subject answered: `case`, and `subject` if
 * there is one.
 */
export function variablesOf(document: YamlDocument): readonly string[] {
  return valueAt(document, ['spec', 'subject']) === undefined ? rowVariables : ['case', 'subject'];
}
