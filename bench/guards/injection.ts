import { labelled } from '../../build/injection/examples.ts';
import { train } from '../../build/injection/train.ts';
import type { Origin } from '../../src/builtins/guards/guard.ts';
import { confidenceIn, readModel } from '../../src/builtins/guards/injection/model.ts';
import { matchPatterns } from '../../src/builtins/guards/injection/patterns.ts';
import {
  createInjectionRules,
  defaultThresholds,
  toPlain,
} from '../../src/builtins/guards/injection/rules.ts';
import {
  deskTexts,
  emails,
  hasShared,
  hiddenInstructions,
  questions,
  readmes,
  sentences,
} from './corpora.ts';
import { disguises } from './disguises.ts';
import { renderTable, type Tally, tally } from './score.ts';

const rules = createInjectionRules({ ...defaultThresholds, scans: () => true });

const flagsFrom = (origin: Origin) => (text: string) =>
  rules.find(text, { origin, prefix: '', conversation: () => [] }).findings.length > 0;

/** Measures what signalbox-injection flags among attempts and harmless texts. */
export function measureInjection(): readonly Tally[] {
  const user = flagsFrom('user');
  const own = [
    ...heldOut(),
    ...Object.entries(disguises).map(([name, bad]) => tally(`ten attempts, ${name}`, { bad }, user)),
    tally('READMEs of the packages it is built with, as a person’s', { good: readmes() }, user),
    tally('READMEs of the packages it is built with, as a tool’s', { good: readmes() }, flagsFrom('tool')),
  ];
  if (!hasShared) return own;
  return [
    ...own,
    tally(
      'BIPIA: 75 instructions in 50 e-mails at 3 places, as a tool’s',
      hiddenInMails(),
      flagsFrom('tool'),
    ),
    tally('BIPIA: the same, as a person’s', hiddenInMails(), user),
    tally('what tools say in tau-bench', { good: deskTexts('tool') }, flagsFrom('tool')),
    tally('what people say in tau-bench', { good: deskTexts('user') }, user),
    tally('questions of gsm8k', { good: [...new Set(questions())] }, user),
    tally('sentences of presidio-research', { good: sentences() }, user),
  ];
}

/** Tests on a fifth of the sentence patterns, with a model trained on the other four fifths. */
function heldOut(): readonly Tally[] {
  const [learnt, test] = [labelled('train'), labelled('test')];
  const rows = [
    ['attempts, by patterns or model', learnt.attack, test.attack, defaultThresholds.threshold, true],
    [
      'instructions to a model, by model',
      learnt.instruction,
      test.instruction,
      defaultThresholds.instructionThreshold,
      false,
    ],
  ] as const;
  return rows.map(([name, examples, tested, threshold, hasPatterns]) => {
    const model = readModel(train(examples));
    const textsOf = (isPositive: boolean) =>
      tested.filter((one) => one.isPositive === isPositive).map(({ text }) => text);
    const flags = (text: string) => {
      const plain = toPlain(text);
      return (hasPatterns && matchPatterns(plain).length > 0) || confidenceIn(model, plain.text) >= threshold;
    };
    return tally(`own sentences, held out: ${name}`, { bad: textsOf(true), good: textsOf(false) }, flags);
  });
}

/** Each instruction in each e-mail: at the start, in the middle and at the end. */
function hiddenInMails() {
  const mails = emails();
  const bad = Object.values(hiddenInstructions())
    .flat()
    .flatMap((instruction) =>
      mails.flatMap((mail) => {
        const middle = mail.indexOf(' ', Math.floor(mail.length / 2));
        return [
          `${instruction}\n${mail}`,
          `${mail.slice(0, middle)}\n${instruction}\n${mail.slice(middle + 1)}`,
          `${mail}\n${instruction}`,
        ];
      }),
    );
  return { bad, good: mails };
}

export function reportInjection(): string {
  return renderTable('signalbox-injection', measureInjection());
}
