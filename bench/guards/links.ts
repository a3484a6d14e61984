import { createLinkRules, linkKindNames } from '../../src/builtins/guards/links/rules.ts';
import { deskTexts, hasShared, pages, readmes } from './corpora.ts';
import { type Answer, carrying, disguised, dribbling } from './exfiltration.ts';
import { renderTable, type Tally, tally } from './score.ts';

const settings = { kinds: new Set(linkKindNames), action: 'strip', scans: () => true, allowed: [] } as const;
const rules = createLinkRules(settings);

function flags({ text, conversation }: Answer): boolean {
  const place = { origin: 'assistant', prefix: '', conversation: () => conversation } as const;
  return rules.find(text, place).findings.length > 0;
}

const harmless = (texts: readonly string[]) => texts.map((text) => ({ text, conversation: [] }));

/**
 * Measures how many URLs that carry data or hide their destination signalbox-links finds, and how many ordinary pages
 * it changes.
 */
export function measureLinks(): readonly Tally[] {
  const own = [
    ...[...carrying()].map(([shape, bad]) => tally(`carries a sentence: ${shape}`, { bad }, flags)),
    tally('carries four digits', { bad: dribbling() }, flags),
    tally('hides where it leads, or is no page', { bad: disguised() }, flags),
    tally('this project’s pages, a page each', { good: harmless(pages()) }, flags),
    tally('READMEs of the packages it is built with', { good: harmless(readmes()) }, flags),
  ];
  if (!hasShared) return own;
  const said = [...deskTexts('tool'), ...deskTexts('assistant')];
  return [...own, tally('what tools and a model say in tau-bench', { good: harmless(said) }, flags)];
}

export function reportLinks(): string {
  return renderTable('signalbox-links', measureLinks());
}
