"""What users call: functions, the command line, reports, the explorer.

It may import all others. Functions of users enter; derivatives, texts and pages leave.
"""
