import type { Path, YamlDocument } from '../base/yaml/document.ts';
import type { Finding } from '../base/yaml/finding.ts';
import { choiceAt, integerAt } from '../base/yaml/read.ts';
import { foreignNames, toolDialects } from '../dialects/registry.ts';

/** Refuses waiting processes for an entry of a foreign dialect; `path` is that of the mapping with `command`. */
export function checkWarm(document: YamlDocument, path: Path): Finding[] {
  const key = [...path, 'warm'];
  if (integerAt(document, key) === undefined) return [];
  const outer =
    path[1] === 'tools' ? choiceAt(document, [...path.slice(0, -1), 'dialect'], toolDialects) : undefined;
  const dialect =
    choiceAt(document, [...path, 'dialect'], foreignNames) ?? foreignNames.find((name) => name === outer);
  if (dialect === undefined) return [];
  return [
    {
      severity: 'error',
      path: key,
      message: `cannot be a number with dialect ${dialect}`,
      hint: 'Its programs get variables of their own with each event, or are lines for a shell, whose files nobody can watch for changes.',
    },
  ];
}
