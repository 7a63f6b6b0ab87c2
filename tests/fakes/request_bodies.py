"""Request bodies by dialect: what a harness needs, and what reaches further than one response."""

from stanchion.protocol.dialects import Dialect

CHAT, RESPONSES = Dialect.OPENAI_CHAT, Dialect.OPENAI_RESPONSES
MESSAGES, GEMINI = Dialect.ANTHROPIC_MESSAGES, Dialect.GEMINI


def user(*parts: object) -> dict[str, object]:
    return {"messages": [{"role": "user", "content": list(parts)}]}


HARMLESS: list[tuple[Dialect, dict[str, object]]] = [
    (
        CHAT,
        {
            "model": "m",
            "max_tokens": 5,
            "max_completion_tokens": 5,
            "reasoning_effort": "max",
            "reasoning": {"effort": "max"},
            "stream": True,
            "stream_options": {"include_usage": True},
            "temperature": 0,
            "n": 1,
            "store": False,
            "service_tier": "auto",
            "logit_bias": {"n": 5},
            "user": "u",
            "metadata": {"a_b": "1", "ab": "2"},
            "prompt_cache_key": "k",
            "x_unknown": {"a": 1},
            "response_format": {"json_schema": {"schema": {"properties": {"base_url": {}}}}},
            "tool_choice": "auto",
            "search_parameters": {"mode": "off"},
            "plugins": [],
            "seed": 2**63,
            "audio": {"voice": "a", "format": "wav"},
        },
    ),
    (
        CHAT,
        {
            "messages": [
                {
                    "role": "assistant",
                    "content": None,
                    "reasoning_content": "hm",
                    "tool_calls": [
                        {
                            "id": "c",
                            "type": "function",
                            "function": {
                                "name": "f",
                                "arguments": '{"base_url":"http://x","store":true}',
                            },
                        },
                    ],
                },
                {"role": "tool", "tool_call_id": "c", "content": "http://x"},
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "image_url",
                            "image_url": {"url": "data:image/png;base64,AA", "detail": "low"},
                        },
                        {"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}},
                        {
                            "type": "file",
                            "file": {
                                "filename": "a.pdf",
                                "file_data": "data:application/pdf;base64,AA",
                            },
                        },
                    ],
                },
            ]
        },
    ),
    (
        CHAT,
        {
            "tools": [
                {
                    "type": "function",
                    "function": {
                        "name": "fetch",
                        "parameters": {
                            "type": "object",
                            "properties": {
                                "url": {"type": "string"},
                                "api_key": {"type": "string"},
                                "tools": {"type": "array"},
                            },
                        },
                    },
                },
                {"function": {"name": "untyped"}},
            ]
        },
    ),
    (
        RESPONSES,
        {
            "model": "m",
            "max_output_tokens": 5,
            "reasoning": {"effort": "max", "summary": "auto"},
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "instructions": "x",
            "text": {"format": {"type": "json_schema", "schema": {"properties": {"n": {}}}}},
            "prompt_cache_key": "k",
            "parallel_tool_calls": False,
            "input": [
                {
                    "role": "user",
                    "content": [
                        {"type": "input_text", "text": "x"},
                        {"type": "input_image", "image_url": "data:image/png;base64,AA"},
                    ],
                },
                {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"},
                {
                    "type": "function_call",
                    "id": "fc_1",
                    "call_id": "c",
                    "name": "f",
                    "arguments": "{}",
                },
                {"type": "function_call_output", "call_id": "c", "output": "http://x"},
                {"type": "custom_tool_call", "call_id": "c", "name": "f", "input": "x"},
                {"type": "message", "role": "assistant", "id": "msg_1", "content": []},
            ],
            "tools": [
                {"type": "function", "name": "f", "parameters": {"properties": {"file_id": {}}}},
                {"type": "custom", "name": "c", "format": {"type": "grammar", "definition": "x"}},
                {"type": "local_shell"},
                {"type": "apply_patch"},
                {"type": "tool_search"},
                {"type": "shell", "environment": {"type": "local"}},
                {"type": "namespace", "name": "a", "tools": [{"type": "function", "name": "f"}]},
            ],
        },
    ),
    (RESPONSES, {"input": "a prompt"}),
    (
        MESSAGES,
        {
            "model": "m",
            "max_tokens": 5,
            "output_config": {"effort": "max"},
            "thinking": {"type": "adaptive"},
            "system": [
                {"type": "text", "text": "x", "cache_control": {"type": "ephemeral", "ttl": "1h"}}
            ],
            "metadata": {"user_id": "u"},
            "billing_policy": {"type": "billing_policy", "bill_to": "self"},
            "service_tier": "standard_only",
            "speed": "standard",
            "context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]},
            "mcp_servers": [],
            "tools": [
                {"name": "f", "input_schema": {"properties": {"image_url": {"type": "string"}}}},
                {"type": "custom", "name": "g", "input_schema": {}},
                {"type": "bash_20250124", "name": "bash"},
                {"type": "memory_20250818", "name": "memory"},
                {"type": "text_editor_20250728", "name": "edit"},
                {"type": "tool_search_tool_regex_20251119", "name": "search"},
            ],
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "image",
                            "source": {"type": "base64", "media_type": "image/png", "data": "A"},
                        },
                        {"type": "document", "source": {"type": "text", "data": "x"}},
                        {
                            "type": "search_result",
                            "source": "https://x",
                            "title": "t",
                            "content": [],
                        },
                    ],
                },
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "x", "signature": "s"},
                        {
                            "type": "tool_use",
                            "id": "t",
                            "name": "f",
                            "input": {"image_url": "http://x", "api_key": "k", "store": True},
                        },
                    ],
                },
                {
                    "role": "user",
                    "content": [{"type": "tool_result", "tool_use_id": "t", "content": "http://x"}],
                },
            ],
        },
    ),
    (
        GEMINI,
        {
            "contents": [
                {
                    "role": "user",
                    "parts": [{"text": "x"}, {"inlineData": {"mimeType": "a/b", "data": "A"}}],
                },
                {
                    "role": "model",
                    "parts": [{"functionCall": {"name": "f", "args": {"base_url": "x"}}}],
                },
                {
                    "role": "user",
                    "parts": [{"functionResponse": {"name": "f", "response": {"api_key": "x"}}}],
                },
            ],
            "systemInstruction": {"parts": [{"text": "x"}]},
            "tools": [{"functionDeclarations": [{"name": "f", "parametersJsonSchema": {"n": {}}}]}],
            "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}},
            "generationConfig": {
                "maxOutputTokens": 5,
                "candidateCount": 1,
                "responseSchema": {"n": 2},
                "thinkingConfig": {"thinkingLevel": "high", "includeThoughts": True},
            },
            "labels": {"a_b": "1", "ab": "2"},
        },
    ),
]

DENIED: list[tuple[Dialect, dict[str, object], str]] = [
    *((dialect, {"background": True}, "background") for dialect in Dialect),
    *((dialect, {"store": True}, "store") for dialect in Dialect),
    (RESPONSES, {"store": "true"}, "store"),
    (RESPONSES, {"previous_response_id": "resp_1"}, "previous_response_id"),
    (RESPONSES, {"conversation": {"id": "conv_1"}}, "conversation"),
    (RESPONSES, {"conversation": "conv_1"}, "conversation"),
    (RESPONSES, {"prompt": {"id": "pmpt_1"}}, "stored_prompt"),
    (CHAT, {"preset": "x"}, "stored_prompt"),
    (RESPONSES, {"input": [{"type": "item_reference", "id": "msg_1"}]}, "item_reference"),
    (RESPONSES, {"input": [{"id": "msg_1"}]}, "item_reference"),
    (RESPONSES, {"tools": [{"type": "web_search_preview"}]}, "web_search"),
    (RESPONSES, {"tools": [{"type": "web_search_2025_08_26"}]}, "web_search"),
    (
        RESPONSES,
        {"tools": [{"type": "code_interpreter", "container": {"type": "auto"}}]},
        "code_interpreter",
    ),
    (RESPONSES, {"tools": [{"type": "programmatic_tool_calling"}]}, "code_interpreter"),
    (RESPONSES, {"tools": [{"type": "file_search", "vector_store_ids": ["v"]}]}, "file_search"),
    (RESPONSES, {"tools": [{"type": "computer_use_preview"}]}, "computer_use"),
    (RESPONSES, {"tools": [{"type": "image_generation"}]}, "image_generation"),
    (RESPONSES, {"tools": [{"type": "mcp", "server_url": "https://x"}]}, "mcp_servers"),
    (
        RESPONSES,
        {"tools": [{"type": "shell", "environment": {"type": "container_auto"}}]},
        "container",
    ),
    (RESPONSES, {"tools": [{"type": "namespace", "tools": [{"type": "mcp"}]}]}, "mcp_servers"),
    (
        RESPONSES,
        {"input": [{"type": "additional_tools", "tools": [{"type": "mcp"}]}]},
        "mcp_servers",
    ),
    (RESPONSES, {"tools": [{"type": "brand_new_tool"}]}, "unknown_tool"),
    (RESPONSES, {"tools": [{"type": ["function"]}]}, "unknown_tool"),
    (
        RESPONSES,
        {"input": [{"role": "user", "content": [{"type": "input_image", "file_id": "f"}]}]},
        "file_id",
    ),
    (
        RESPONSES,
        {"input": [{"role": "user", "content": [{"type": "input_file", "file_url": "http://x"}]}]},
        "remote_url",
    ),
    (
        RESPONSES,
        {
            "input": [
                {
                    "type": "function_call_output",
                    "call_id": "c",
                    "output": [{"type": "input_image", "image_url": "https://x"}],
                }
            ]
        },
        "remote_url",
    ),
    (CHAT, user({"type": "image_url", "image_url": {"url": "https://x"}}), "remote_url"),
    (CHAT, user({"type": "image_url", "image_url": "http://169.254.169.254/"}), "remote_url"),
    (CHAT, user({"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}), "remote_url"),
    (CHAT, user({"type": "video_url", "video_url": {"url": "https://x"}}), "remote_url"),
    (CHAT, user({"type": "video", "video": ["https://x/1.png"]}), "remote_url"),
    (CHAT, user({"type": "file", "file": {"file_id": "file-1"}}), "file_id"),
    (CHAT, user({"type": "image_url", "image_url": {"URL": "https://x"}}), "remote_url"),
    (CHAT, {"tools": [{"Type": "web_search"}]}, "web_search"),
    (CHAT, {"tools": [{"type": "function", "TYPE": "mcp"}]}, "mcp_servers"),
    (CHAT, {"n": 2}, "n"),
    (CHAT, {"n": "1"}, "n"),
    (CHAT, {"best_of": 4}, "n"),
    (CHAT, {"service_tier": "priority"}, "service_tier"),
    (CHAT, {"web_search_options": {"search_context_size": "low"}}, "web_search"),
    (CHAT, {"enable_search": True}, "web_search"),
    (CHAT, {"search_parameters": {"mode": "auto"}}, "web_search"),
    (CHAT, {"plugins": [{"id": "web"}]}, "plugins"),
    (CHAT, {"models": ["other/model"]}, "other_models"),
    (CHAT, {"fallbacks": [{"model": "x"}]}, "other_models"),
    (CHAT, {"extra_body": {"max_tokens": 1}}, "extra_body"),
    (
        CHAT,
        {"tools": [{"type": "builtin_function", "function": {"name": "$web_search"}}]},
        "web_search",
    ),
    (CHAT, {"tools": [{"google_search": {}}]}, "web_search"),
    (CHAT, {"api_base": "http://x"}, "base_url"),
    (CHAT, {"x": {"y": [{"z": {"baseURL": "http://x"}}]}}, "base_url"),
    (CHAT, {"metadata": {"user_config": {"model_list": []}}}, "base_url"),
    (CHAT, {"parameters": {"api_base": "http://x"}}, "base_url"),
    (CHAT, {"x": {"api-key": "sk-a"}}, "api_key"),
    (CHAT, {"webhook_url": "http://x"}, "webhook"),
    (MESSAGES, {"mcp_servers": [{"type": "url", "url": "https://x"}]}, "mcp_servers"),
    (MESSAGES, {"container": "container_1"}, "container"),
    (MESSAGES, {"thread": {"type": "create"}}, "conversation"),
    (
        MESSAGES,
        {"thread": {"type": "continue", "previous_message_id": "msg_1"}},
        "conversation",
    ),
    (MESSAGES, {"billing_policy": {"bill_to": "user_profile"}}, "billing_policy"),
    (MESSAGES, {"speed": "fast"}, "service_tier"),
    (MESSAGES, {"service_tier": "priority"}, "service_tier"),
    (MESSAGES, {"fallbacks": [{"model": "x"}]}, "other_models"),
    (MESSAGES, {"tools": [{"type": "web_search_20250305", "name": "web_search"}]}, "web_search"),
    (MESSAGES, {"tools": [{"type": "web_fetch_20250910", "name": "web_fetch"}]}, "web_fetch"),
    (MESSAGES, {"tools": [{"type": "code_execution_20250825", "name": "c"}]}, "code_interpreter"),
    (MESSAGES, {"tools": [{"type": "computer_20251124", "name": "computer"}]}, "computer_use"),
    (MESSAGES, {"tools": [{"type": "mcp_toolset", "mcp_server_name": "x"}]}, "mcp_servers"),
    (MESSAGES, {"tools": [{"type": "advisor_20260301", "model": "x"}]}, "unknown_tool"),
    (
        MESSAGES,
        user({"type": "image", "source": {"type": "url", "url": "https://x"}}),
        "remote_url",
    ),
    (
        MESSAGES,
        user({"type": "image", "source": {"TYPE": "url", "url": "https://x"}}),
        "remote_url",
    ),
    (MESSAGES, user({"type": "document", "source": {"type": "file", "file_id": "f"}}), "file_id"),
    (MESSAGES, user({"type": "container_upload", "file_id": ""}), "container"),
    (
        MESSAGES,
        user(
            {
                "type": "tool_result",
                "content": [{"type": "image", "source": {"type": "url", "url": "https://x"}}],
            }
        ),
        "remote_url",
    ),
    (GEMINI, {"generationConfig": {"candidateCount": 2}}, "n"),
    (GEMINI, {"generation_config": {"candidate_count": 2}}, "n"),
    (GEMINI, {"cachedContent": "cachedContents/1"}, "cached_content"),
    (GEMINI, {"serviceTier": "PRIORITY"}, "service_tier"),
    (GEMINI, {"generationConfig": {"modelSelectionConfig": {"x": 1}}}, "other_models"),
    (GEMINI, {"contents": [{"parts": [{"fileData": {"fileUri": "https://x"}}]}]}, "remote_url"),
    (GEMINI, {"contents": [{"parts": [{"file_data": {"file_uri": "gs://x"}}]}]}, "remote_url"),
    (GEMINI, {"tools": [{"googleSearch": {}}]}, "web_search"),
    (GEMINI, {"tools": [{"functionDeclarations": []}, {"code_execution": {}}]}, "code_interpreter"),
    (GEMINI, {"tools": {"urlContext": {}}}, "web_fetch"),
    (GEMINI, {"tools": [{"computerUse": {}}]}, "computer_use"),
    (GEMINI, {"tools": [{"fileSearch": {}}]}, "file_search"),
    (GEMINI, {"tools": [{"mcpServers": []}]}, "mcp_servers"),
    (GEMINI, {"tools": [{"googleMaps": {}}]}, "unknown_tool"),
]
