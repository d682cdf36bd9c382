# a linked list of nodes
# expect: right
class Node:
    def __init__(self, value, after=None):
        self.value = value
        self.after = after
def f(x, c):
    head = None
    for one in x:
        head = Node(one * c, head)
    node = head
    while node is not None:
        node.value = node.value**2 + 1.0
        node = node.after
    total, node = 0.0, head
    while node is not None:
        total = 0.5 * total + node.value
        node = node.after
    return total
