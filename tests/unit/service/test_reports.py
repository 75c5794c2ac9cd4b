def test_a_report_is_acknowledged_once_it_is_stored(serving):
    envelope = serving.envelopes()
    reply = serving.send(envelope)
    assert (reply.status, reply.body) == (202, b"")
    assert serving.stored() == [envelope]
