"""The figures of a service and its batches under faults and load; one module a figure."""
