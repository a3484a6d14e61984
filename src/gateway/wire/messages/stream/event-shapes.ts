import { usageShape } from '../answer/answer-shape.ts';
import type { MembersShape } from '../blocks/shapes.ts';

/** The members of each kind of event that the whole answer has, or that are figures. */
export const eventShapes: ReadonlyMap<string, MembersShape> = new Map<string, MembersShape>([
  ['message_start', { members: { type: 'told', message: 'told' } }],
  ['content_block_start', { members: { type: 'told', index: 'figure', content_block: 'told' } }],
  ['content_block_delta', { members: { type: 'told', index: 'figure', delta: 'told' } }],
  ['content_block_stop', { members: { type: 'told', index: 'figure' } }],
  [
    'message_delta',
    {
      members: {
        type: 'told',
        delta: {
          members: { stop_reason: 'told', stop_sequence: 'told', stop_details: 'told', container: 'told' },
        },
        usage: usageShape,
        context_management: 'told',
        input_transformations: 'told',
      },
    },
  ],
  ['message_stop', { members: { type: 'told' } }],
  ['ping', { members: { type: 'told' } }],
]);

/** The same for each kind of delta. */
export const deltaShapes: ReadonlyMap<string, MembersShape> = new Map<string, MembersShape>([
  ['text_delta', { members: { type: 'told', text: 'told' } }],
  ['thinking_delta', { members: { type: 'told', thinking: 'told', estimated_tokens: 'figure' } }],
  ['signature_delta', { members: { type: 'told', signature: 'told' } }],
  ['citations_delta', { members: { type: 'told', citation: 'told' } }],
  ['input_json_delta', { members: { type: 'told', partial_json: 'told' } }],
  ['compaction_delta', { members: { type: 'told', content: 'told', encrypted_content: 'told' } }],
]);
