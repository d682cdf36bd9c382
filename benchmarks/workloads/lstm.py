"""Long short-term memory with diagonal weights over a sequence (ADBench's LSTM): loss of predicting the next item."""

import numpy as np


def sigmoid(x):
    """The logistic function."""
    return 1.0 / (1.0 + np.exp(-x))


def cell(weight, bias, hidden, memory, x):
    """One layer, one step: the new hidden state and memory."""
    b = hidden.shape[0]
    gates = np.concatenate((x, hidden, x, hidden)) * weight + bias
    forget = sigmoid(gates[:b])
    ingate = sigmoid(gates[b : 2 * b])
    outgate = sigmoid(gates[2 * b : 3 * b])
    change = np.tanh(gates[3 * b :])
    memory = memory * forget + ingate * change
    return outgate * np.tanh(memory), memory


def recurrent(main, extra, state, sequence):
    """Two layers: `main` (4, 4b), `extra` (3, b), `state` (4, b), `sequence` (c, b)."""
    hidden, memory, hidden_2, memory_2 = state[0], state[1], state[2], state[3]
    total = 0.0
    for t in range(sequence.shape[0] - 1):
        hidden, memory = cell(main[0], main[1], hidden, memory, sequence[t] * extra[0])
        hidden_2, memory_2 = cell(main[2], main[3], hidden_2, memory_2, hidden)
        guess = hidden_2 * extra[1] + extra[2]
        total += np.sum(sequence[t + 1] * (guess - np.log(np.sum(np.exp(guess)) + 2.0)))
    return -total / (sequence.shape[1] * (sequence.shape[0] - 1))


def cell_hand(weight, bias, hidden, memory, x):
    """The step and its pullback."""
    b = hidden.shape[0]
    joined = np.concatenate((x, hidden, x, hidden))
    gates = joined * weight + bias
    forget = sigmoid(gates[:b])
    ingate = sigmoid(gates[b : 2 * b])
    outgate = sigmoid(gates[2 * b : 3 * b])
    change = np.tanh(gates[3 * b :])
    new = memory * forget + ingate * change
    squashed = np.tanh(new)

    def back(hidden_bar, new_bar):
        new_bar = new_bar + hidden_bar * outgate * (1.0 - squashed * squashed)
        gates_bar = np.empty_like(gates)
        gates_bar[:b] = new_bar * memory * forget * (1.0 - forget)
        gates_bar[b : 2 * b] = new_bar * change * ingate * (1.0 - ingate)
        gates_bar[2 * b : 3 * b] = hidden_bar * squashed * outgate * (1.0 - outgate)
        gates_bar[3 * b :] = new_bar * ingate * (1.0 - change * change)
        joined_bar = gates_bar * weight
        x_bar = joined_bar[:b] + joined_bar[2 * b : 3 * b]
        old_bar = joined_bar[b : 2 * b] + joined_bar[3 * b :]
        return gates_bar * joined, gates_bar, old_bar, new_bar * forget, x_bar

    return outgate * squashed, new, back


def recurrent_hand(main, extra, state, sequence):
    """Keeps a pullback for each step of a layer, and the exponentials of each guess."""
    hidden, memory, hidden_2, memory_2 = state[0], state[1], state[2], state[3]
    total = 0.0
    steps = []
    for t in range(sequence.shape[0] - 1):
        hidden, memory, back = cell_hand(main[0], main[1], hidden, memory, sequence[t] * extra[0])
        hidden_2, memory_2, back_2 = cell_hand(main[2], main[3], hidden_2, memory_2, hidden)
        guess = hidden_2 * extra[1] + extra[2]
        e = np.exp(guess)
        s = np.sum(e) + 2.0
        total += np.sum(sequence[t + 1] * (guess - np.log(s)))
        steps.append((back, back_2, hidden_2, e / s))
    scale = -1.0 / (sequence.shape[1] * (sequence.shape[0] - 1))

    main_bar = np.zeros_like(main)
    extra_bar = np.zeros_like(extra)
    hidden_bar = hidden_2_bar = memory_bar = memory_2_bar = np.zeros_like(state[0])
    for t in reversed(range(sequence.shape[0] - 1)):
        back, back_2, hidden_2, shares = steps.pop()
        gold = sequence[t + 1]
        guess_bar = scale * (gold - np.sum(gold) * shares)
        extra_bar[1] += guess_bar * hidden_2
        extra_bar[2] += guess_bar
        weight_bar, bias_bar, hidden_2_bar, memory_2_bar, x_bar = back_2(
            hidden_2_bar + guess_bar * extra[1], memory_2_bar
        )
        main_bar[2] += weight_bar
        main_bar[3] += bias_bar
        weight_bar, bias_bar, hidden_bar, memory_bar, x_bar = back(hidden_bar + x_bar, memory_bar)
        main_bar[0] += weight_bar
        main_bar[1] += bias_bar
        extra_bar[0] += x_bar * sequence[t]
    return scale * total, (main_bar, extra_bar)


def arguments(b, c):
    """Sequences of zeros and ones, as of a text's characters in binary digits."""
    rng = np.random.default_rng(0)
    main, extra, state = (0.3 * rng.standard_normal((n, width)) for n, width in ((4, 4 * b), (3, b), (4, b)))
    return main, extra, state, (rng.random((c, b)) < 0.5).astype(float)
