import { refusalShape } from '../blocks/block-kinds.ts';
import { type MembersShape, type Shape, words } from '../blocks/shapes.ts';

const tokens: Shape = {
  members: { ephemeral_1h_input_tokens: 'figure', ephemeral_5m_input_tokens: 'figure' },
};

const counts = {
  input_tokens: 'figure',
  output_tokens: 'figure',
  cache_creation_input_tokens: 'figure',
  cache_read_input_tokens: 'figure',
  cache_creation: tokens,
} as const;

/** `usage`: figures, and words of the protocol. */
export const usageShape: MembersShape = {
  members: {
    ...counts,
    inference_geo: 'id',
    service_tier: words('standard', 'priority', 'batch'),
    speed: words('standard', 'fast'),
    output_tokens_details: { members: { thinking_tokens: 'figure' } },
    server_tool_use: { members: { web_fetch_requests: 'figure', web_search_requests: 'figure' } },
    iterations: {
      items: {
        members: {
          ...counts,
          model: 'id',
          type: words('message', 'compaction', 'advisor_message', 'fallback_message'),
        },
      },
    },
  },
};

const container: Shape = {
  members: {
    id: 'id',
    expires_at: 'date',
    skills: {
      items: { members: { skill_id: 'id', type: words('anthropic', 'custom'), version: 'id' } },
    },
  },
};

const contextManagement: Shape = {
  members: {
    applied_edits: {
      items: {
        members: {
          type: words('clear_tool_uses_20250919', 'clear_thinking_20251015'),
          cleared_input_tokens: 'figure',
          cleared_tool_uses: 'figure',
          cleared_thinking_turns: 'figure',
        },
      },
    },
    original_input_tokens: 'figure',
  },
};

const diagnostics: Shape = {
  members: {
    cache_miss_reason: {
      members: {
        type: words(
          'model_changed',
          'system_changed',
          'tools_changed',
          'messages_changed',
          'previous_message_not_found',
          'unavailable',
        ),
        cache_missed_input_tokens: 'figure',
      },
    },
  },
};

/** The members of a message that an answer is. */
export const answerShape: MembersShape = {
  members: {
    id: 'id',
    type: words('message'),
    role: words('assistant'),
    model: 'id',
    content: 'told',
    stop_reason: 'told',
    stop_sequence: 'said',
    input_transformations: 'said',
    stop_details: refusalShape,
    usage: usageShape,
    container,
    context_management: contextManagement,
    diagnostics,
  },
};

/** The answer of `count_tokens`. */
export const countShape: MembersShape = {
  members: { input_tokens: 'figure', context_management: contextManagement },
};
