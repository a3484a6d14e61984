import { findNearest } from '../../base/text/suggest.ts';
import { checkTypes } from './registry.ts';

export function suggestEval(type: string, declared: readonly string[]): string {
  const own = namesElsewhere[type.toLowerCase().replaceAll('_', '-')];
  if (own !== undefined) return `the name of this check is \`${own}\``;
  const nearest = findNearest(type, [...declared, ...checkTypes()]);
  if (nearest !== undefined) return `did you mean \`${nearest}\`?`;
  const known = declared.length === 0 ? '' : `declared evals: ${declared.join(', ')}; `;
  return `${known}docs/reference/checks.md lists the built-in checks`;
}

const namesElsewhere: Readonly<Record<string, string | undefined>> = {
  'llm-rubric': 'llm_judge',
  'g-eval': 'llm_judge',
  geval: 'llm_judge',
  'model-graded-closedqa': 'llm_judge',
  'model-graded-qa': 'llm_judge',
  'llm-as-judge': 'llm_judge',
  'model-graded-factuality': 'factuality',
  icontains: 'contains',
  'contains-all': 'contains',
  similar: 'similarity',
  'is-json': 'json_valid',
};
