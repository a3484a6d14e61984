import type { answerOf } from './responses-bodies.ts';
import { cut, type Dice, type Frame } from './scene.ts';

type Answer = ReturnType<typeof answerOf>;

export function eventsOf(answer: Answer, dice: Dice): Frame[] {
  const begun = { ...answer, status: 'in_progress', output: [], usage: null };
  const told: [type: string, members: object][] = [
    ['response.created', { response: begun }],
    ['response.in_progress', { response: begun }],
    ...answer.output.flatMap((item, output_index) => itemEvents(item, output_index, dice)),
    ['response.completed', { response: answer }],
  ];
  return told.map(([type, members], sequence_number) => ({
    event: type,
    data: { type, sequence_number, ...members },
  }));
}

function itemEvents(item: Answer['output'][number], output_index: number, dice: Dice): [string, object][] {
  const at = { item_id: item.id, output_index };
  const around = (begun: object, inner: [string, object][]): [string, object][] => [
    ['response.output_item.added', { output_index, item: begun }],
    ...inner,
    ['response.output_item.done', { output_index, item }],
  ];
  if ('summary' in item) {
    return around(
      { ...item, summary: [] },
      item.summary.flatMap((part, summary_index): [string, object][] => [
        ['response.reasoning_summary_part.added', { ...at, summary_index, part: { ...part, text: '' } }],
        ...cut(part.text, dice).map((delta): [string, object] => [
          'response.reasoning_summary_text.delta',
          { ...at, summary_index, delta },
        ]),
        ['response.reasoning_summary_text.done', { ...at, summary_index, text: part.text }],
        ['response.reasoning_summary_part.done', { ...at, summary_index, part }],
      ]),
    );
  }
  if ('arguments' in item) {
    return around({ ...item, status: 'in_progress', arguments: '' }, [
      ...cut(item.arguments, dice).map((delta): [string, object] => [
        'response.function_call_arguments.delta',
        { ...at, delta },
      ]),
      ['response.function_call_arguments.done', { ...at, name: item.name, arguments: item.arguments }],
    ]);
  }
  return around(
    { ...item, status: 'in_progress', content: [] },
    item.content.flatMap((part, content_index) => partEvents(part, { ...at, content_index }, dice)),
  );
}

type Part = Extract<Answer['output'][number], { content: unknown }>['content'][number];

function partEvents(part: Part, at: object, dice: Dice): [string, object][] {
  const isText = 'text' in part;
  const name = isText ? 'output_text' : 'refusal';
  const text = isText ? part.text : part.refusal;
  const more = isText ? { logprobs: [] } : {};
  return [
    [
      'response.content_part.added',
      { ...at, part: isText ? { ...part, text: '', annotations: [] } : { ...part, refusal: '' } },
    ],
    ...cut(text, dice).map((delta): [string, object] => [
      `response.${name}.delta`,
      { ...at, delta, ...more },
    ]),
    ...(isText
      ? part.annotations.map((annotation, annotation_index): [string, object] => [
          'response.output_text.annotation.added',
          { ...at, annotation_index, annotation },
        ])
      : []),
    [`response.${name}.done`, { ...at, [isText ? 'text' : 'refusal']: text, ...more }],
    ['response.content_part.done', { ...at, part }],
  ];
}
