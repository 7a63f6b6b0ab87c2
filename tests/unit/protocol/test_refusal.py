from stanchion.protocol.refusal import refuse


def test_a_refusal_names_field_value_rule_and_remedy() -> None:
    error = refuse(
        "effort_unknown", field="--effort", value="hi", rule="not a word", remedy="Use low."
    )
    assert str(error) == "--effort = 'hi': not a word. Use low."
    assert error.refusal.value == "hi"


def test_an_absent_value_is_not_invented() -> None:
    error = refuse("limit_missing", field="limits", value=None, rule="required", remedy="Say it.")
    assert str(error) == "limits: required. Say it."
